#!/bin/sh
# Debuggers and tracers work over processes of their own box with `--local trace`; what counts events of the machine does not,
# and is told why.
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
run() { "$CORDON" run --time 60s --ledger off "$@" 2>&1 </dev/null; }
if command -v strace >/dev/null; then
        has "strace" "$(run -q --local trace -- strace -f /bin/true)" "exited with 0"
        has "without it the message names the door" "$(run -- strace /bin/true)" "--local trace"
else
        skip "strace" "it is not installed"
fi
if command -v gdb >/dev/null; then
        has "gdb stops a program and goes on" "$(run -q --local trace -- gdb -nx -batch -ex starti -ex continue /bin/true)" "exited normally"
else
        skip "gdb" "it is not installed"
fi
if command -v perf >/dev/null && perf --version >/dev/null 2>&1; then
        has "perf is refused with a reason of its own" "$(run --json --local trace -- perf stat /bin/true)" '"reason":"counters"'
else
        skip "perf" "it is not installed"
fi
done_testing
