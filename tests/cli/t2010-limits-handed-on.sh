#!/bin/sh
# An ordinary user to whom a v1 control group was handed over: what keeps the limit holds the payload, not init alone.
# shellcheck disable=SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
pids=/sys/fs/cgroup/pids name="limits are kept by a v1 group of the user's own"
if [ "$(id -u)" -ne 0 ] || [ ! -w "$pids/cgroup.procs" ]; then
        skip "$name" "this needs root and a v1 hierarchy of pids"
        done_testing
fi
group=$pids/handed-on-$$
mkdir "$group" && chown -R 65533:65533 "$group" || exit 1
# No other hierarchy is seen, and of this one the user's group alone.
cat >inside <<'EOF'
group=$1 pids=$2
shift 2
grep -o ' /sys/fs/cgroup[^ ]* .* - cgroup2* ' /proc/self/mountinfo | cut -d ' ' -f 2 >"$T/mounts"
echo $$ >"$group/cgroup.procs" && mkdir -p "$T/at" && mount --bind "$group" "$T/at" || exit 99
while read -r m; do umount "$m"; done <"$T/mounts"
mkdir -p "$pids" && mount --bind "$T/at" "$pids" || exit 98
exec setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/nonexistent CORDON_STATE="$T/state-user" "$@"
EOF
export T
unshare -m sh inside "$group" "$pids" "$CORDON" run -q --json --procs 8 -- sh -c '
        for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do
                sleep 60 & echo CHILD
        done
        wait' >out 2>err
is "$name" "$(tail -n 1 err | jq -c '[.kept_by.procs, .limits_hit[0]]' 2>&1)" '["cgroup","procs"]'
ok "and hold what the payload starts ($(grep -c CHILD out) of 30)" test "$(grep -c CHILD out)" -lt 9
ok "nothing of it is left" soon rmdir "$group" # the ledger's sealer lingers in it
done_testing
