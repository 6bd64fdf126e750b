#!/bin/sh
# A process names its threads by /proc/self/task/N/comm, as pthread_setname_np() does; nothing else in /proc can be written.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
cd "$T" || exit 1
root() { "$@"; }
compile thread_names
for who in root as_user; do
        run() { $who "$CORDON" run -q --time 60s --ledger off "$@" 2>&1 </dev/null; }
        for observe in denials off; do
                run --observe $observe --read "$T/thread_names" -- "$T/thread_names" >out
                is "$who, $observe: libc names another thread" "$(grep '^libc' out)" "libc: 0 worker"
                is "$who, $observe: by every path to a thread of its own" "$(grep -e '^self' -e '^cloexec' -e '^number' -e '^own' -e '^thread-self' out | sed 's/.*: //' | sort | uniq -c | tr -s ' ')" " 5 named"
                is "$who, $observe: no other process" "$(grep -e '^child' -e '^init' out | sed 's/.*: //' | sort | uniq -c | tr -s ' ' | grep -c named)" 0
                is "$who, $observe: by no other way" "$(grep -e '^around' -e '^link' out | sed 's/.*: //' | uniq)" "errno 30"
                is "$who, $observe: no other file" "$(grep '^others' out)" "others opened: 0"
                is "$who, $observe: the descriptor leads nowhere" "$(grep '^led' out)" "led elsewhere: 0"
                is "$who, $observe: a path that flips leads to nothing else" "$(grep '^flipped' out)" "flipped to another: 0"
        done
        is "$who: behind the process wall too" "$(run --wall process --read "$T/thread_names" -- "$T/thread_names" | grep -e '^libc' -e '^others' -e '^led' -e '^flipped' -e '^init' | sed 's| ?$||' | tr '\n' ' ')" \
                "libc: 0 init: errno 13 others opened: 0 led elsewhere: 0 flipped to another: 0 "
done
is "nothing is reported of it" "$("$CORDON" run --json --ledger off --read "$T/thread_names" -- "$T/thread_names" 2>&1 </dev/null | grep -c '"path":"/proc/self/task/[0-9]*/comm"')" 0
done_testing
