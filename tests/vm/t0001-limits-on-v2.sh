#!/bin/sh
# Pure control groups v2: limits are kept by groups and name themselves, and no group is left, whoever dies.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/../cli/lib.sh"
cd "$T" || exit 1
cp /work/helpers/hog "$T/hog" && chmod 755 "$T/hog"
run() {
        "$CORDON" run -q --status-fd 3 "$@" 3>status >out 2>err </dev/null
        code=$?
}
get() { jq -r "$1" <status 2>&1; }
groups() { find /sys/fs/cgroup -type d -name 'cordon-*'; }

is "there is no v1 hierarchy" "$(grep -c ' cgroup ' /proc/mounts)" 0
ok "doctor finds nothing missing that a box needs" "$CORDON" doctor
has "doctor tells of v2" "$("$CORDON" doctor)" "control groups v2"
"$CORDON" run --json -- busybox true >out 2>err </dev/null
is "a box runs busybox true" $? 0
cat out err >status
for l in memory procs cpu; do is "$l is kept by a group" "$(get ".kept_by.$l")" cgroup; done
has "the layer is claimed" "$(get '.layers|join(" ")')" cgroup
has "so is Landlock" "$(get '.layers|join(" ")')" landlock
is "busybox runs a shell in the box" "$("$CORDON" run -q -- busybox sh -c 'busybox echo $((6*7))' 2>&1)" 42
run --require-limit -- busybox true
is "--require-limit starts" $code 0

run --memory 32M --time 20s -- "$T/hog" memory 200
is "memory: 124" $code 124
is "memory: is the limit" "$(get .limit)" memory
hasnt "memory: it did not fit" "$(cat out)" touched
ok "memory: the peak is within it ($(get .memory_peak))" test "$(get '.memory_peak <= 36*1048576')" = true
run --memory 64M --time 20s -- busybox sh -c 'busybox dd if=/dev/zero of=/tmp/x bs=1M count=20 2>/dev/null; exit 6'
is "memory: a run within it is not touched" $code 6

run --procs 10 --time 20s -- busybox sh -c 'i=0; while [ $i -lt 30 ]; do busybox sleep 3 & i=$((i+1)); done; wait'
has "procs: is among the limits that were hit" "$(get '.limits_hit|join(" ")')" procs
run --procs 20 --time 1s --cpu 5s -- busybox sh -c 'b() { b | b & }; b; busybox sleep 5'
has "procs: a fork bomb names it" "$(get '.limits_hit|join(" ")')" procs

run --time 500ms -- busybox sleep 20
is "time: 124" $code 124
is "time: is the limit" "$(get .limit)" time
run --cpu 500ms --time 20s -- busybox sh -c 'while :; do :; done'
is "cpu: is the limit" "$(get .limit)" cpu
is "no group is left" "$(groups)" ""

# The events file of a v2 group is always readable: a keeper that polls it for reading never sleeps.
(exec "$CORDON" run -q -- busybox sh -c 'echo up; exec busybox sleep 15') >up 2>&1 </dev/null &
keeper=$!
soon test -s up
before=$(awk '{ print $14 + $15 }' /proc/$keeper/stat)
sleep 4
spent=$(($(awk '{ print $14 + $15 }' /proc/$keeper/stat) - before))
ok "a keeper with nothing to do sleeps ($spent of 400 ticks)" test $spent -le 100
kill $keeper
wait $keeper

n=0
while [ $n -lt 20 ]; do
        n=$((n + 1))
        (exec "$CORDON" run -q -- busybox sleep "77$n") >/dev/null 2>&1 </dev/null &
        keeper=$!
        sleep "0.0$((n * 4 % 10))$((n % 10))"
        [ $n -le 15 ] || sleep 0.3
        kill -9 $keeper
        wait $keeper 2>/dev/null
done
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ -n "$(groups)" ] || break
        sleep 0.2
done
is "twenty keepers killed leave no group" "$(groups)" ""
is "and no process" "$(pgrep -f 'sleep 77' | wc -l)" 0
is "and no mount" "$(grep -c cordon /proc/self/mountinfo)" 0

# An ordinary user: no group of theirs here, and that is said.
as_user "$CORDON" run --json -- busybox true >out 2>err </dev/null
is "an ordinary user's box runs" "$? $(grep -v '^{' err)" "0 "
cat out err >status
has "its keeping is the weaker one, and that is said" "$(get .kept_by.memory)" sampling
# A user to whom a group was delegated, as systemd does it.
mkdir /sys/fs/cgroup/user && chown -R 65533:65533 /sys/fs/cgroup/user
echo "+cpu +memory +pids" >/sys/fs/cgroup/user/cgroup.subtree_control
mkdir /sys/fs/cgroup/user/session && chown -R 65533:65533 /sys/fs/cgroup/user/session
cat >delegated <<'END'
echo $$ >/sys/fs/cgroup/user/session/cgroup.procs
exec setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/nonexistent CORDON_STATE="${CORDON_STATE}-user" "$@"
END
sh delegated "$CORDON" run --json --memory 32M -- busybox true >out 2>err </dev/null
is "a user with a delegated group: the box runs" "$? $(grep -v '^{' err)" "0 "
cat out err >status
for l in memory procs cpu; do is "a delegated user's $l is kept by a group" "$(get ".kept_by.$l")" cgroup; done
sh delegated "$CORDON" run -q --status-fd 3 --memory 32M --time 20s -- "$T/hog" memory 200 3>status >out 2>err </dev/null
is "a delegated user's memory limit names itself" "$(get .limit)" memory
is "and no group is left" "$(groups)" ""
rmdir /sys/fs/cgroup/user/session /sys/fs/cgroup/user
done_testing
