#!/bin/sh
# What a start costs, counted and not timed: system calls and processes, however many files lie under a door; and the memory
# of an idle box. The sealer of the ledger, which serves many runs, is left out. Times are in bench/. The figures are those that bench/README.md states; whoever makes a start dearer has to say so there.
# shellcheck disable=SC2317
. "$(dirname "$0")/lib.sh"
repo=$(cd "$(dirname "$0")/../.." && pwd)
cd "$T" || exit 1
# stated NAME: the figure behind "NAME: at most N" in bench/README.md
stated() { sed -n "s/^- $1: at most \([0-9]*\).*/\1/p" "$repo/bench/README.md"; }
if strace -f -o "$T/probe" true 2>/dev/null && [ -s "$T/probe" ]; then
        # calls ARGUMENT...: how many calls of each name, but those that wait or depend on who is first. The least of three
        # starts counts: while it waits, init looks at its processes now and then, and on a busy machine it waits longer.
        calls() {
                least=999999
                for _ in 1 2 3; do
                        strace -f -o one "$CORDON" run -q --ledger off --wall "namespace without cgroup" "$@" -- /bin/true </dev/null >/dev/null 2>&1 || return 1
                        n=$(wc -l <one)
                        [ "$n" -ge $least ] || { least=$n && mv one trace; }
                done
                sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' trace | grep -v -x -e futex -e poll -e ppoll -e wait4 -e waitid -e restart_syscall \
                        -e read -e recvmsg -e sched_yield -e clock_nanosleep -e rt_sigreturn | sort | uniq -c >"$1.calls"
        }
        mkdir few many
        echo x >few/1
        seq -f "$T/many/%g" 1 20000 | xargs touch
        # What `base/system` finds below /etc differs from host to host: these policies name their doors.
        for door in few many; do printf 'read /usr\nread /bin?\nread /lib?\nread /lib64?\nread %s\n' "$T/$door" >$door.policy; done
        ok "a box with a door over 1 file starts" calls -p few.policy
        mv -- -p.calls few.calls
        ok "and with one over 20,000" calls -p many.policy
        mv -- -p.calls many.calls
        is "no file under the door is touched; only whether it is a repository is looked at" \
                "$(sed -n "s|.*\"$T/many/\([^\"]*\).*|\1|p" trace | sort -u)" .git
        few=$(awk '{ n += $1 } END { print n }' few.calls) many=$(awk '{ n += $1 } END { print n }' many.calls)
        # Not to the last one: see above.
        ok "a start over 20,000 files makes the system calls of one over a single file ($few, $many)" test $((many - few)) -le 50 -a $((few - many)) -le 50
        n=$(awk '{ n += $1 } END { print n }' few.calls)
        ok "it makes no more of them than is stated ($n of $(stated "system calls of a start"))" test "$n" -le "$(stated "system calls of a start")" -a "$n" -gt 50
        n=$(awk '{ print $1 }' trace | sort -u | wc -l)
        ok "and no more processes ($n of $(stated "processes of a start"))" test "$n" -le "$(stated "processes of a start")" -a "$n" -ge 3
        # The mount table is as long as the host has mounts.
        strace -f -o one "$CORDON" run -q --ledger off -- /bin/true </dev/null >/dev/null 2>&1
        ok "a start with control groups is traced" grep -q '/proc/self/cgroup' one
        usual=$(awk -F: '$2 == "" || $2 ~ /(^|,)(memory|pids|cpuacct|freezer)(,|$)/ { print $2 }' /proc/self/cgroup | while read -r list; do
                [ -d "/sys/fs/cgroup/$list" ] || echo "$list"
        done)
        if [ -z "$usual" ]; then
                is "it does not read the mount table" "$(grep -c -e mountinfo -e 'proc/.*/mounts' one trace | paste -s -d ' ')" "one:0 trace:0"
        else
                skip "it does not read the mount table" "control groups are not in their usual place: $usual"
        fi
        # A door costs the same, however many there are.
        seq -f "$T/d%g" 1 200 | xargs mkdir
        seq -f "read $T/d%g" 1 100 >100.policy
        seq -f "read $T/d%g" 1 200 >200.policy
        ok "a box with 100 doors starts" calls -p 100.policy
        mv -- -p.calls 100.calls
        ok "and with 200" calls -p 200.policy
        mv -- -p.calls 200.calls
        one=$(awk '{ n += $1 } END { print n }' 100.calls) two=$(awk '{ n += $1 } END { print n }' 200.calls)
        ok "the second 100 doors cost what the first did ($one calls, $two calls)" test $((two - one)) -le $((one + one / 10))
        ok "one door makes no more calls than is stated ($(((two - one) / 100)) of $(stated "system calls of a door"))" test $(((two - one) / 100)) -le "$(stated "system calls of a door")"
else
        skip "system calls of a start" "strace cannot trace here"
fi
id=$("$CORDON" run -d --time 60s -- sleep 50)
family() { echo "$1"; for c in $(pgrep -P "$1"); do family "$c"; done; }
if [ "$(id -u)" -eq 0 ]; then
        kb=0
        for p in $(family "$("$CORDON" ps --json "$id" | jq -r .keeper)"); do
                [ "$(cat "/proc/$p/comm")" = sleep ] || kb=$((kb + $(awk '$1 == "Pss:" { print $2 }' "/proc/$p/smaps_rollup")))
        done
        ok "an idle box takes no more memory than is stated ($kb of $(stated "kilobytes of an idle box, without its payload"))" test "$kb" -le "$(stated "kilobytes of an idle box, without its payload")" -a "$kb" -gt 100
else
        skip "memory of an idle box" "only root may look at the memory of init"
fi
"$CORDON" stop -k "$id" >/dev/null
# Who rests wakes hardly anybody: how often keeper, janitor, init and observer slept in five seconds.
# shellcheck disable=SC2086
slept() { awk '/^voluntary_ctxt_switches/ { n += $2 } END { print n }' $files; }
for wall in namespace "namespace without cgroup"; do
        if [ "$wall" = namespace ] && ! "$CORDON" run -q --require-limit -- true 2>/dev/null; then
                skip "wall namespace: how often an idle box wakes up" "this account may make no control groups"
                continue
        fi
        id=$("$CORDON" run -d --time 60s --wall "$wall" -- sleep 50)
        files=$(for p in $(family "$("$CORDON" ps --json "$id" | jq -r .keeper)"); do [ "$(cat "/proc/$p/comm")" = sleep ] || echo "/proc/$p/status"; done)
        most=$(($(stated "wake-ups of an idle box in a second, $wall") * 5))
        for _ in 1 2 3 4 5 6 7 8; do # where others keep the machine busy, its looks take longer and come to no rest
                sleep 1
                before=$(slept) began=$(date +%s%3N)
                sleep 5
                n=$(($(slept) - before)) ms=$(($(date +%s%3N) - began)) # more than five seconds, on a busy machine
                n=$((n * 5000 / ms))
                [ "$n" -gt $most ] || break
        done
        ok "wall $wall: an idle box wakes up no more often than is stated ($n of $most in 5 s)" test "$n" -le $most -a "$(echo "$files" | wc -l)" -ge 2
        "$CORDON" stop -k "$id" >/dev/null
done
done_testing
