#!/bin/sh
# shellcheck disable=SC2046
# What is for attacking our own walls exists in test builds only: a release has no switch to leave a layer out.
. "$(dirname "$0")/lib.sh"
words() { LC_ALL=C tr -c '[:print:]' '\n' <"$1" | grep -E "$2"; }
is "the program knows no CORDON_KNOCKOUT" "$(words "$CORDON" CORDON_KNOCKOUT)" ""
is "the program knows no CORDON_STEP" "$(words "$CORDON" CORDON_STEP)" ""
has "the look itself finds words" "$(words "$CORDON" '^usage: |cordon help')" "cordon help"
is "a layer that is named stays up" "$(CORDON_KNOCKOUT=seccomp,landlock "$CORDON" run --json -- true 2>&1 | grep -c '"seccomp","landlock"')" 1
has "a test build knows the switch" "$(words "$BUILD/tests/hooked" CORDON_KNOCKOUT)" CORDON_KNOCKOUT
cd "$CORDON_SOURCE" || exit 1
# The attacks are cordon-selftest's alone: neither their names nor their symbols are in the program or the library.
attacks=$("$CORDON" selftest breakout --list | sed 's/^[a-z-]* *//; s/  .*//' | sort -u)
ok "there are attacks" test "$(echo "$attacks" | wc -l)" -gt 300
words "$CORDON_LIBEXEC/cordon-selftest" . >"$T/selftest.words"
echo "$attacks" | grep -c -x -F -f - "$T/selftest.words" >"$T/found"
ok "cordon-selftest has them" test "$(cat "$T/found")" -gt 300
for f in "$CORDON" "$CORDON_LIBEXEC/cordon-review" "$BUILD/libcordon.so.1"; do
        words "$f" . >"$T/words"
        is "$(basename "$f") has no attack by name" "$(echo "$attacks" | grep -x -F -f - "$T/words")" ""
        is "$(basename "$f") has no attack's symbol" "$(nm "$f" 2>/dev/null | grep -wE 'probe_main|bomb_main|probe_table|bomb_table')" ""
done
nm "$BUILD/src/selftest/cordon-selftest" >"$T/symbols"
ok "which cordon-selftest has" grep -qw probe_main "$T/symbols"

# A single copied file runs boxes, and names what the other verbs lack.
mkdir -p "$T/alone" && cp "$CORDON" "$T/alone/cordon"
alone() { CORDON_LIBEXEC=$T/alone "$T/alone/cordon" "$@"; }
is "one copied file runs a box" "$(alone run -q --ledger off -- echo fine)" fine
for verb in "selftest breakout" ledger "policy new" serve; do
        program=cordon-review
        [ "$verb" != "selftest breakout" ] || program=cordon-selftest
        # shellcheck disable=SC2086
        out=$(alone $verb 2>&1)
        is "and has no $verb" $? 125
        has "which is said" "$out" "the program $program is not installed; what starts, holds and ends boxes works without it"
        has "and how to get it" "$out" "hint: "
        # shellcheck disable=SC2086
        has "its help is there" "$(alone help "${verb%% *}")" "usage: cordon ${verb%% *}"
done
asking=$(grep -lE '\b(wall_left_out|wall_excused|wall_step|work_step)\(' $(git ls-files "src/*.c") | sed 's,^src/\(.*\)\.c$,\1,')
ok "files ask for hooks" test -n "$asking"
is "and each of them is compiled with them" "$(for f in $asking; do grep -q "'$f'" tests/meson.build || echo "$f"; done)" ""
done_testing
