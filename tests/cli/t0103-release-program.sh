#!/bin/sh
# What is for attacking our own walls exists in test builds only: a release has no switch to leave a layer out.
. "$(dirname "$0")/lib.sh"
words() { LC_ALL=C tr -c '[:print:]' '\n' <"$1" | grep -E "$2"; }
is "the program knows no CORDON_KNOCKOUT" "$(words "$CORDON" CORDON_KNOCKOUT)" ""
is "the program knows no CORDON_STEP" "$(words "$CORDON" CORDON_STEP)" ""
has "the look itself finds words" "$(words "$CORDON" '^usage: |cordon help')" "cordon help"
is "a layer that is named stays up" "$(CORDON_KNOCKOUT=seccomp,landlock "$CORDON" run --json -- true 2>&1 | grep -c '"seccomp","landlock"')" 1
has "a test build knows the switch" "$(words "$BUILD/tests/hooked" CORDON_KNOCKOUT)" CORDON_KNOCKOUT
cd "$CORDON_SOURCE" || exit 1
asking=$(grep -lE '\b(wall_left_out|wall_excused|wall_step|work_step)\(' $(git ls-files "src/*.c") | sed 's,^src/\(.*\)\.c$,\1,')
ok "files ask for hooks" test -n "$asking"
is "and each of them is compiled with them" "$(for f in $asking; do grep -q "'$f'" tests/meson.build || echo "$f"; done)" ""
done_testing
