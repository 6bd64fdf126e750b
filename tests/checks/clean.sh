#!/bin/sh
# However tests are started, they begin the same: the caller's signals, variables, umask, limits and descriptors are not theirs.
. "$(dirname "$0")/../cli/lib.sh"
tests=$(cd "$(dirname "$0")/.." && pwd)
# What a test sees: it is started by the runner, as all are.
mkdir -p "$T/tests/cli" && cp "$tests/clean.sh" "$tests/run" "$T/tests/" && cp "$tests/cli/lib.sh" "$T/tests/cli/"
cat >"$T/tests/cli/t0000-seen.sh" <<'END'
. "$(dirname "$0")/lib.sh"
is "umask" "$(umask)" 0022
# But the two that the C library keeps for itself, which no program can set back.
for mask in $(sed -n 's/^Sig\(Ign\|Blk\):[[:space:]]*//p' /proc/self/status); do
        is "no signal is ignored or blocked ($mask)" "$((0x$mask & ~0x180000000))" 0
done
is "variables" "$(env | sed -n 's/^\(DISPLAY\|XDG_[A-Z_]*\|LANG\|http_proxy\|SSH_AUTH_SOCK\)=.*/\1/p')" ""
ok "HOME is there" test -d "$HOME"
ok "open files suffice" test "$(ulimit -n)" -ge 256
is "standard input is empty" "$(cat)" ""
is "no other descriptor" "$(ls /proc/self/fd | grep -x '[4-9]')" ""
done_testing
END
seen() { "$@" sh "$T/tests/run" --one "$T" "$T/tests/cli/t0000-seen.sh" 2>&1 | grep -v '^  *skipped' | sed 's/^\[[^]]*\] //; s/ [0-9]*s$//'; }
export TEST_CLEAN=''
want="ok   t0000-seen: 8 "
is "as it is" "$(seen env)" "$want"
is "under nohup, with ignored signals" "$(seen env --ignore-signal=HUP,INT,QUIT,USR1)" "$want"
is "from a desktop" "$(seen env DISPLAY=:0 XDG_RUNTIME_DIR=/run/user/1 LANG=de_DE.UTF-8 http_proxy=http://127.0.0.1:9 SSH_AUTH_SOCK=/nowhere)" "$want"
is "with nothing" "$(seen env -i CORDON="$CORDON" PATH="$PATH")" "$want"
is "with a umask of 077" "$(umask 077 && seen env)" "$want"
# shellcheck disable=SC3045
is "with a low soft limit of open files" "$(ulimit -S -n 64 && seen env)" "$want"
is "with standard input closed, and others open" "$(exec 7<"$0" <&- && seen env)" "$want"
done_testing
