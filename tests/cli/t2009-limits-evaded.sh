#!/bin/sh
# Ways around limits: what is tried on purpose, where a hog is merely greedy.
# alone: limits that bite in time.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile evade
root() { "$@"; }
# run ARGUMENT...: as $who; output in out, result in status
run() { $who "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null; }
get() { jq -r "$1" <status 2>&1; }
grouped() { [ "$(get .kept_by.memory)" = cgroup ]; }

# --- memory: the kernel says that it is out before it has killed, and who looks at once sees no kill yet. Each time. ---
who=root late='' named=''
for _ in 1 2 3 4 5 6; do
        run --memory 32M --time 20s -- "$T/evade" child-memory 500
        late=$late$(cat out) named="$named $(get .limit)"
        grouped || break
done
if grouped; then
        is "memory: a child that is killed for it ends the box" "$named" " memory memory memory memory memory memory"
        is "memory: its parent does not go on" "$late" ''
else
        skip "memory: a child that is killed for it ends the box" "no control group keeps memory here"
fi

# --- time: it is kept also while the keeper is stopped, and what is in another session was not stopped with it ---
# Also when the line to the keeper is full: what is refused is told there, and init must not wait for that.
for who in root as_user; do for refused in 0 500; do
        rm -rf "work-$who" && mkdir -m 777 "work-$who"
        $who sh -c 'echo $$; exec "$@"' sh "$CORDON" run -q --status-fd 3 --time 2s --read "$T/evade" --write "$T/work-$who" -- \
                "$T/evade" clockwork "$T/work-$who/ticks" $refused 3>status >id 2>err </dev/null &
        soon test -s "work-$who/ticks"
        keeper=$(head -n 1 id)
        kill -STOP "$keeper"
        touch "work-$who/ticks.go"
        sleep 3
        for _ in $(seq 15); do
                then=$(wc -c <"work-$who/ticks")
                sleep 0.6
                [ "$(wc -c <"work-$who/ticks")" -ne "$then" ] || break
        done
        is "$who: time: the box ends while its keeper is stopped (after $then ticks, $refused refusals)" "$(wc -c <"work-$who/ticks")" "$then"
        ok "$who: time: it had begun" test "$then" -gt 0
        kill -CONT "$keeper"
        wait
        is "$who: time: is the limit" "$(get .limit)" time
done; done

# --- time: signals for a box that takes none do not stop its keeper ---
who=root
: >out
"$CORDON" run -q --status-fd 3 --time 3s -- sh -c 'trap "" USR1; echo began; sleep 60' 3>status >out 2>err </dev/null &
keeper=$!
init=''
soon test -s out
init=$(pgrep -P "$keeper" -x cordon-init)
ok "time: init can be stopped" kill -STOP "$init"
i=0
while [ $i -lt 1500 ]; do
        kill -USR1 "$keeper" 2>/dev/null || break
        i=$((i + 1))
done
(sleep 12 && kill -KILL "$keeper" && kill -CONT "$init") 2>/dev/null &
guard=$!
wait "$keeper"
kill "$guard" 2>/dev/null
is "time: is the limit, after $i signals that nobody took" "$(get .limit)" time

# --- memory: what lies in sockets is memory too ---
who=root
run --net 127.0.0.1:9 --memory 64M --files 1000 --time 20s --read "$T/evade" -- "$T/evade" socket-memory 600
if grouped; then
        held=$(sed -n 's/^600 sockets held \([0-9]*\) MiB$/\1/p' out)
        ok "memory: sockets do not hold more than the limit ($(cat out err))" test "${held:-999}" -le 64
else
        skip "memory: sockets do not hold more than the limit" "no control group keeps memory here"
fi

# --- disk: files of an edit door that were removed and are open lie on the disk, and in no tree ---
# So do those that lie deeper than any path can tell: 20 directories of 250 letters.
for who in root as_user; do
        for deep in 0 20; do
                rm -rf "$T/edited-$who" && mkdir -p "$T/edited-$who" && chmod 777 "$T/edited-$who"
                run --disk 20M --time 30s --files 64 --edit "$T/edited-$who" -- python3 -c '
import os, sys, time
held = [open("/dev/null") for _ in range(20)]
os.chdir(sys.argv[1])
for i in range(int(sys.argv[2])):
    os.mkdir("d" * 250)
    os.chdir("d" * 250)
for i in range(30):
    f = open("%d" % i, "wb", buffering=0)
    os.unlink(f.name)
    held.append(f)
    for _ in range(10):
        f.write(b"x" * 1000000)
    time.sleep(0.05)
time.sleep(60)
print("held")' "$T/edited-$who" "$deep"
                is "$who: disk: removed files count while they are open, $deep directories deep" "$(get .limit)$(cat out)" disk
        done
done

# --- disk: what lies deeper than the keeper has descriptors for counts all the same ---
for who in root as_user; do
        rm -rf "$T/edited-$who" && mkdir -p "$T/edited-$who" && chmod 777 "$T/edited-$who"
        ( # shellcheck disable=SC3045
                ulimit -n 128
                run --disk 20M --time 30s --edit "$T/edited-$who" -- python3 -c '
import os, sys, time
os.chdir(sys.argv[1])
for i in range(200):
    os.mkdir("d")
    os.chdir("d")
for i in range(30):
    with open("%d" % i, "wb", buffering=0) as f:
        for _ in range(10):
            f.write(b"x" * 1000000)
    time.sleep(0.05)
time.sleep(60)
print("held")' "$T/edited-$who"
        )
        is "$who: disk: what lies deeper than the keeper can look counts" "$(get .limit)$(cat out)" disk
        $who "$CORDON" discard "$(get .work.layer)" 2>/dev/null
done

# --- cpu: the keeper is tied to one processor and looks again when one can have used it up; the box takes all ---
cpus=$(getconf _NPROCESSORS_ONLN)
if [ "$cpus" -gt 1 ] && command -v taskset >/dev/null; then
        for who in root as_user; do
                run_tied() { $who taskset -c 0 "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null; }
                run_tied --cpu 2s --time 60s -- "$T/evade" all-cpus "$cpus"
                is "$who: cpu: is the limit, on more processors than the keeper's" "$(get .limit)" cpu
                ok "$who: cpu: the keeper looks in time ($(get .cpu_ms) ms of 2000)" test "$(get '.cpu_ms < 2000 + 100 * '"$cpus")" = true
        done
else
        skip "cpu: on more processors than the keeper's" "there is one processor, or no taskset"
fi

# --- cpu: the time of children whose ends are ignored goes to nobody; without control groups it is seen to vanish ---
for who in root as_user; do
        for ms in 40 300; do
                run --cpu 1s --time 60s -- "$T/evade" lost-children "$ms"
                is "$who: cpu: children of $ms ms that nobody waits for count" "$(get .limit)$(cat out)" cpu
        done
        run --cpu 20s --time 60s -- sh -c 'i=0; while [ $i -lt 300 ]; do ( : ); i=$((i + 1)); done; times >/dev/null'
        ok "$who: cpu: children that are waited for count once ($(get .cpu_ms) ms)" test "$(get '.exit == 0 and .cpu_ms < 5000')" = true
done

# --- the end: who is left behind does not hold it up, however fast it asks or makes others ---
who=root
run --procs 1500 --time 30s --read "$T/evade" -- "$T/evade" ask-on 1000
is "end: a thousand that go on asking do not hold it up ($(get .wall_ms) ms)" "$(get '.exit == 5 and .limit == null and .wall_ms < 7000')" true
for who in root as_user; do
        for apart in 0 1; do
                run --wall process --procs 200 --time 30s --read "$T/evade" -- "$T/evade" breed-on $apart
                is "$who: end: those that breed do not hold it up behind the process wall, apart $apart ($(get .wall_ms) ms)" \
                        "$(get '.exit == 5 and .limit == null and .wall_ms < 15000')" true
                is "$who: end: and none of them is left" "$(grep -l evade-breeds /proc/[0-9]*/comm 2>/dev/null | while read -r comm; do
                        grep -s '^State:' "${comm%comm}status"
                done | grep -c -v Z)" 0
        done
done

# --- without control groups figures stand behind a name that a program chooses: this one would move them ---
is "a name that looks like figures is none" "$(as_user "$CORDON" run -q --wall 'namespace without cgroup' --cpu 30s -- perl -e '$0 = "x) 1 2 3 4 5"; select undef, undef, undef, 1; print "went on"' 2>&1 </dev/null)" "went on"

# --- nor behind the groups of the account, of which some have hundreds ---
if [ "$(id -u)" -eq 0 ]; then
        as_member() { setpriv --reuid 65533 --regid 65533 --groups "$(seq -s, 100000 100799)" env HOME=/nonexistent CORDON_STATE="$T/state-user" "$@"; }
        who=as_member
        for wall in namespace process; do
                run --wall "$wall without cgroup" --memory 100M --time 30s -- sh -c 'for i in 1 2 3 4; do (head -c 60000000 /dev/zero | tail -c 60000000 | { sleep 2; cat; }) & done; wait'
                is "$wall: an account with many groups keeps within its memory ($(get .memory_peak))" "$(get .limit)" memory
        done
else
        skip "an account with many groups keeps within its memory" "only root may have an account with so many"
fi

# --- what the kernel counts for an account: a box has a share of it, and the account goes on ---
# beside WALL: how many instances of inotify a box takes, and one more outside while it has them
beside() {
        : >taken
        $who "$CORDON" run -q --wall "$1" --read "$T/evade" --time 5s -- "$T/evade" inotify 20 >taken 2>err </dev/null &
        soon test -s taken
        outside=$($who "$T/evade" inotify 0)
        wait
        [ -s taken ] || echo "-1: $(cat err)" >taken
}
for who in root as_user; do
        beside namespace
        ok "$who: a box gets a share of inotify ($(cat taken))" test "$(cat taken)" -ge 1 -a "$(cat taken)" -le 32
        ok "$who: and leaves the rest to the account ($outside)" test "$outside" -ge 1
        beside process
        is "$who: process wall: it gets none" "$(cat taken)" 0
        if [ "$(id -u)" -eq 0 ]; then
                id=$($who "$CORDON" run -d --time 20s -- sleep 15)
                is "$who: of the watches it gets a quarter" "$(nsenter -U -t "$($who "$CORDON" ps --json "$id" | jq .init)" cat /proc/sys/user/max_inotify_watches)" "$(($(cat /proc/sys/fs/inotify/max_user_watches) / 4))"
                $who "$CORDON" stop -k "$id" >/dev/null
        else
                skip "$who: of the watches it gets a quarter" "only root may look into its namespace"
        fi
done
done_testing
