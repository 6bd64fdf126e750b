#!/bin/sh
# Containers of several kinds, made with unshare: which wall a box gets there, that `cordon doctor` says it in its first line,
# and that the box keeps its promises: a hidden file, an open door, statuses, limits. docs/scale.md has the table.
# shellcheck disable=SC2016,SC2034,SC2086,SC2317
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
if ! unshare -Urm true 2>/dev/null; then
        skip "containers of several kinds" "no user namespace can be made here"
        done_testing
fi
compile container
before=$(orphans)
mkdir door && echo open >door/file && echo "PRIVATE KEY" >key && chmod -R a+rX door key

# What the root of such a container does before the command starts. Mounts are private to it.
own=$T
no_fuse='[ ! -e /dev/fuse ] || mount --bind /dev/null /dev/fuse;'
no_groups='for m in $(sed -n "s,^[^ ]* \(/sys/fs/cgroup[^ ]*\) .*,\1,p" /proc/mounts | sort -r); do mount -o remount,bind,ro $m; done;'
no_userns='echo 0 >/proc/sys/user/max_user_namespaces;'
read_only='mount --bind "$own" "$own" && mount -o remount,bind,ro / && cd "$own";'
filter='set -- "$own/container" "$@";'
stranger='set -- setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/nonexistent CORDON_STATE="$own/state-user" "$@";'
export own

# kind NAME WALL SETUP: of root, or of a user namespace's root
inside() { unshare ${flags:--m} sh -c "$setup"' exec "$@"' sh "$@" </dev/null; }
kind() {
        name=$1 wall=$2 setup=$3
        has "$name: doctor says the $wall wall in its first line" "$(inside "$CORDON" doctor 2>&1 | sed -n 1p)" "$wall wall"
        inside "$CORDON" run --status-fd 3 -- sh -c 'echo hello; exit 7' 3>status >out 2>err
        is "$name: a box of that wall runs" "$?:$(cat out):$(jq -r '"\(.wall) \(.attested)"' <status)" "7:hello:$wall true"
        is "$name: its note says what it leaves open" "$(grep -c 'process wall only (no namespaces)' err)" "$([ $wall = process ] && echo 1 || echo 0)"
        out=$(inside "$CORDON" run -q -- cat "$T/key" 2>&1)
        is "$name: a file without a door stays closed" "$?:$(echo "$out" | grep -c PRIVATE)" 1:0
        is "$name: a door is open" "$(inside "$CORDON" run -q --read "$T/door" -- cat "$T/door/file" 2>&1)" open
        is "$name: a time limit ends it" "$(inside "$CORDON" run -q --time 300ms -- sleep 20 >/dev/null 2>&1; echo $?)" 124
        inside "$CORDON" run -q --memory 64M -- python3 -c 'x = b"x" * (400 << 20); print("had it")' >out 2>&1
        hasnt "$name: a memory limit holds" "$(cat out)" "had it"
}
root=
[ "$(id -u)" -ne 0 ] || root=root
flags=-Urm
kind "user namespaces blocked" process "$no_userns"
[ -n "$root" ] || kind "a user namespace" namespace ":;"
if [ -n "$root" ]; then
        flags=-m
        kind "no /dev/fuse" namespace "$no_fuse"
        kind "control groups read-only" namespace "$no_groups"
        kind "root file system read-only" namespace "$read_only"
        kind "a uid without a passwd entry" namespace "$stranger"
        kind "docker's filter" process "$filter $stranger"
        kind "all of it, as a pod has it" process "$no_fuse $no_groups $read_only $filter $stranger"
else
        skip "kinds that only root can make" "not root"
fi
ok "no control group is left" none_left
done_testing
