#!/bin/sh
# Hosts that lack something of a box, made with a filter, a limit or fewer capabilities: what does not start says why, and its hint
# is a thing to type that leads out. docs/test-vm.md has the same on kernels that lack it.
# shellcheck disable=SC2016,SC2034
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile deny
enosys=38 eperm=1
landlock=444 mount_setattr=442
mkdir door && echo open >door/file && chmod -R a+rX door
try() { "$@" </dev/null 2>&1; }

# Landlock off at boot, and namespaces fine: nothing runs unless that is asked for, by the option that the hint has.
out=$(try ./deny $landlock:$enosys -- "$CORDON" run --ledger off -- echo RAN)
is "without Landlock nothing runs" "$?:$(echo "$out" | grep -c RAN)" 125:0
has "the hint is an option to type" "$out" '--wall "namespace without landlock"'
is "with it the box runs" "$(try ./deny $landlock:$enosys -- "$CORDON" run -q --ledger off --wall "namespace without landlock" -- echo RAN)" RAN
has "the help of run lists it" "$("$CORDON" run --help)" '"namespace without landlock"'

# A kernel that is too old is named; one that is not, but filtered, is not.
out=$(try setarch --uname-2.6 ./deny $mount_setattr:$enosys -- "$CORDON" run --ledger off --wall namespace -- echo RAN)
has "an old kernel: which one is needed" "$out" "hint: cordon needs Linux 5.13 or newer; this is 2.6"
hasnt "a filter in a new one is not said to be an old kernel" "$(try ./deny $mount_setattr:$enosys -- "$CORDON" run --ledger off --wall namespace -- echo RAN)" "or newer"

# User namespaces off: the hint of what the process wall cannot hold does not name the process wall.
limited() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"; }
if limited true 2>/dev/null; then
        for doors in "--edit $T/door" "--net a.example:1" "--local loopback"; do
                # shellcheck disable=SC2086
                out=$(try limited "$CORDON" run --ledger off $doors -- echo RAN)
                is "$doors: nothing runs" "$?:$(echo "$out" | grep -c RAN)" 125:0
                has "$doors: the hint lifts the limit" "$out" "hint: sudo sysctl -w user.max_user_namespaces="
        done
else
        skip "user namespaces off" "no user namespace can be made here"
fi

# Root without SYS_ADMIN, as in a container: a door leads to the process wall, or the hint says who can.
if [ "$(id -u)" -eq 0 ]; then
        plain() { try setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin "$@"; }
        has "root without SYS_ADMIN: a box without doors has the namespace wall" "$(plain "$CORDON" run --ledger off --status-fd 2 -- true)" '"wall":"namespace"'
        is "a read door opens" "$(plain "$CORDON" run -q --ledger off --read "$T/door" -- cat "$T/door/file")" open
        is "behind the process wall" "$(plain "$CORDON" run -q --ledger off --status-fd 2 --read "$T/door" -- true | jq -r .wall)" process
        out=$(plain "$CORDON" run --ledger off --edit "$T/door" -- echo RAN)
        is "an edit door does not" "$?:$(echo "$out" | grep -c RAN)" 125:0
        has "and the hint says who may" "$out" "hint: root needs CAP_SYS_ADMIN for the doors of a box: docker run --user 1000"
        mkdir -m 700 own
        has "a directory of root alone is not said to lack a door" "$(plain "$CORDON" run --ledger off --read "$T/own" --cwd "$T/own" -- true)" "root's box is another user"
        has "doctor says it" "$(plain "$CORDON" doctor)" "weak  account"
else
        skip "root without SYS_ADMIN" "not root"
fi

# A box in a box: whatever is asked for, the hint is the same.
for doors in "" "--edit $T/door"; do
        # shellcheck disable=SC2086
        has "cordon in a box ${doors:-without doors}" "$(try "$CORDON" run --ledger off --read "$T/door" --read "$(dirname "$CORDON")" --run any -- "$CORDON" run $doors -- true)" "no box starts inside another"
done
done_testing
