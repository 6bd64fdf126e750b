#!/bin/sh
# doctor tells what is so: every layer that is taken away, in a namespace of the test's own, is found missing; where the
# namespace wall cannot be raised, doctor says so and `--wall namespace` does not start.
# shellcheck disable=SC2016 # $0 is for the inner shell
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
"$CORDON" doctor >text 2>err
status=$?
is "doctor says nothing on standard error" "$(cat err)" ""
ok "its JSON is JSON" sh -c '"$0" doctor --json >json; python3 -m json.tool json' "$CORDON"
is "text and JSON name the same layers in the same states" \
        "$(python3 -c 'import json; [print(r["state"], r["layer"]) for r in json.load(open("json"))]')" \
        "$(sed -n 's/^ok /yes /; s/^missing /no /; s/^\(yes\|weak\|no\) *\(.*\)/\1 \2/p' text | sed 's/   .*//; s/  *$//')"
if ! unshare -Ur true 2>/dev/null; then
        skip "layers taken away are found missing" "no user namespaces here"
        done_testing
fi
is "all that the namespace wall needs is here" "$status" 0

# without FILE-OF-/proc/sys/user LAYER: a limit of a user namespace that the test makes
without() {
        unshare -Ur sh -c "echo 0 >/proc/sys/user/$1 && \"\$0\" doctor; echo \"status \$?\"; \"\$0\" run -q --wall namespace -- true 2>err; echo \"run \$?\"" "$CORDON" >out
        has "without $1 doctor misses the $2" "$(grep '^missing ' out)" "$2"
        has "and says that the wall cannot be raised" "$(cat out)" "status 1"
        has "and it is not: nothing runs" "$(cat out)" "run 125"
        has "with a hint" "$(cat err)" "hint:"
}
without max_user_namespaces "user namespaces"
without max_net_namespaces "net namespace"
without max_pid_namespaces "pid namespace"
without max_ipc_namespaces "ipc namespace"
without max_uts_namespaces "uts namespace"
without max_cgroup_namespaces "cgroup namespace"

# A host without FUSE: the same walls, only less is told.
if [ "$(id -u)" -eq 0 ] && [ -c /dev/fuse ]; then
        unshare -m sh -c 'mount --bind /dev/null /dev/fuse && "$0" doctor; "$0" run -q -- cat "$1"; echo "run $?"' "$CORDON" "/etc/hostname" >out 2>err
        has "without FUSE doctor says what is lost" "$(grep '^weak *fuse' out)" "not reported"
        has "and a hidden file is as hidden" "$(cat out)" "run 1"
        chmod=$(unshare -m sh -c 'cp -a /dev/fuse . && chmod 600 fuse && mount --bind fuse /dev/fuse && "$0" doctor; exec setpriv --reuid 65533 --regid 65533 --clear-groups "$0" doctor' "$CORDON" | grep -A1 '^[a-z]* *fuse')
        has "where it is root's alone, root's boxes have it" "$chmod" "are reported"
        has "where it is root's alone, doctor has the command" "$chmod" "chmod 666 /dev/fuse"
else
        skip "a host without FUSE" "not root, or there is none"
fi

# What the kernel does with a crash in a box. A limit stops the program that a pipe starts, and not the one behind a socket.
if [ "$(id -u)" -eq 0 ] && [ -e /proc/sys/kernel/core_pattern ]; then
        core() { echo "$1" >pattern && unshare -m sh -c 'mount --bind pattern /proc/sys/kernel/core_pattern && "$0" doctor' "$CORDON" | grep -A1 '^[a-z]* *core dumps'; }
        has "a pipe for crashes: boxes dump none" "$(core '|/usr/lib/helper %p')" "core dumps are off"
        has "a socket for crashes: theirs go there, too" "$(core '@/run/core.socket')" "in a box too"
        has "with the command that ends it" "$(core '@@/run/core.socket')" "kernel.core_pattern=core"
else
        skip "what becomes of a crash" "not root, or this kernel dumps none"
fi
done_testing
