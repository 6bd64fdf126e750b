#!/bin/sh
# What puts the caller before other processes is not the box's: real-time class, nice, I/O priority, protection from the OOM killer.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
for tool in chrt ionice nice choom; do
        command -v $tool >/dev/null || { skip "precedence" "$tool is not installed"; done_testing; }
done
# Raw calls: what the payload has, its pid 1 too where it has one.
cat >has.py <<'E2'
import ctypes, os
io = ctypes.CDLL(None).syscall(252 if os.uname().machine == "x86_64" else 31, 1, 0)
try:
    oom = open("/proc/self/oom_score_adj").read().strip()
except PermissionError:
    oom = "closed"
print(os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0), io >> 13 & 7, io & 7, oom)
E2
has_in() { "$@" "$CORDON" run -q --wall $wall --ledger off --read "$T/has.py" -- python3 "$T/has.py" 2>&1 </dev/null; }
before() { "$@" true 2>/dev/null; }
for wall in namespace process; do
        plain=$(has_in env)
        is "$wall: a plain caller gives plain precedence" "$(echo "$plain" | cut -d' ' -f1)" 0
        for class in --fifo --rr; do
                if before chrt $class 10; then
                        is "$wall: chrt $class is not handed on" "$(has_in chrt $class 10 | cut -d' ' -f1)" 0
                else
                        skip "$wall: chrt $class is not handed on" "this account may not have it"
                fi
        done
        is "$wall: who steps back stays behind (class)" "$(has_in chrt --idle 0 | cut -d' ' -f1)" 5
        if before nice -n -10; then
                is "$wall: a negative nice value is not handed on" "$(has_in nice -n -10 | cut -d' ' -f2)" 0
        else
                skip "$wall: a negative nice value is not handed on" "this account may not have it"
        fi
        is "$wall: who steps back stays behind (nice)" "$(has_in nice -n "$((12 - $(nice)))" | cut -d' ' -f2)" 12
        if before ionice -c 1 -n 0; then
                is "$wall: real-time I/O is not handed on" "$(has_in ionice -c 1 -n 0 | cut -d' ' -f3,4)" "2 4"
        else
                skip "$wall: real-time I/O is not handed on" "this account may not have it"
        fi
        is "$wall: nor is the first of the best-effort levels" "$(has_in ionice -c 2 -n 0 | cut -d' ' -f3,4)" "2 4"
        is "$wall: who steps back stays behind (I/O)" "$(has_in ionice -c 3 | cut -d' ' -f3)" 3
        if [ $wall = process ]; then
                is "$wall: the OOM score cannot be changed back" "$(has_in env | cut -d' ' -f5)" closed
        elif before choom -n -500 --; then
                is "$wall: protection from the OOM killer is not handed on" "$(has_in choom -n -500 -- | cut -d' ' -f5)" 0
        else
                skip "$wall: protection from the OOM killer is not handed on" "this account may not have it"
        fi
done

# The time of a box that spins is over, on all processors that the caller has, and the keeper's own class stays what it was.
if before chrt --fifo 10 && command -v taskset >/dev/null; then
        for wall in namespace process; do
                is "$wall: a caller's SCHED_FIFO does not keep a limit from firing" \
                        "$(taskset -c 0 chrt --fifo 10 timeout -s KILL 60 "$CORDON" run -q --wall $wall --ledger off --time 1s -- sh -c 'while :; do :; done' >/dev/null 2>&1 </dev/null; echo $?)" 124
        done
else
        skip "a caller's SCHED_FIFO does not keep a limit from firing" "this account may not have it, or no taskset"
fi
done_testing
