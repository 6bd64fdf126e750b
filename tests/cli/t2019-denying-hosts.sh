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
        has "doctor says it" "$(plain "$CORDON" doctor)" "weak     account"
else
        skip "root without SYS_ADMIN" "not root"
fi

# The state directory on overlayfs, as in every container: the changes of edit doors lie elsewhere, and doctor says where.
on_overlay() {
        unshare -m sh -c 'mount -t tmpfs none "$1" && cd "$1" && mkdir up work low m && mount -t overlay none m -o lowerdir=low,upperdir=up,workdir=work &&
                mkdir -m 755 m/p && mkdir -m 700 m/state && echo a >m/p/a && chmod 755 . && { [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 m/p m/state; } &&
                mount -t tmpfs -o mode=1777 none /dev/shm && mount -t tmpfs -o mode=1777,$4 none /var/tmp && cd m/p && export CORDON="$2" NAME="$1" && eval "$3"' \
                sh "$T/overlay" "$CORDON" "$1" "${2:-rw}" 2>&1 </dev/null
}
there='user() { setpriv --reuid 65533 --regid 65533 --clear-groups env HOME=/nonexistent CORDON_STATE="$NAME/m/state" CORDON_LIBEXEC="$CORDON_LIBEXEC" "$@"; }'
mkdir -p overlay
if [ "$(id -u)" -eq 0 ] && on_overlay 'true' >out; then
        out=$(on_overlay "$there"'; user "$CORDON" run --ledger off --edit . -- sh -c "echo b >>a; echo n >new"; user "$CORDON" diff; user "$CORDON" apply --ledger off; cat a new; user "$CORDON" doctor; ls -l ../state')
        has "state on overlayfs: an edit door opens, and its changes wait" "$out" "2 changes in an overlay"
        has "diff shows them" "$out" "new: added"
        has "apply lands them" "$out" "a
b
n"
        has "doctor says where they lie" "$out" "cannot hold edit doors: their changes lie in /var/tmp/cordon-work-65533"
        hasnt "what outlives a restart needs no note" "$out" "until this machine"
        out=$(on_overlay "$there"'; user "$CORDON" run --ledger off --edit . -- sh -c "echo b >>a"; user "$CORDON" diff; umount /dev/shm; mount -t tmpfs -o mode=1777 none /dev/shm; user "$CORDON" diff
                user "$CORDON" run --ledger off --edit . -- sh -c "echo c >>a"; user "$CORDON" run --ledger off --write /dev/shm/cordon-work-65533 -- true' ro)
        has "in memory: it says how long they are kept" "$out" "the overlay is in /dev/shm/cordon-work-65533 until this machine or container stops"
        has "diff finds them" "$out" "+b"
        has "after a restart there is nothing" "$out" "no changes to apply"
        is "and a new one is made" "$(echo "$out" | grep -c 'change in an overlay')" 2
        has "no door opens them" "$out" "no box may see it"
        has "no place at all: the hint is a command" "$(on_overlay "$there"'; mount -o remount,ro /dev/shm; user "$CORDON" run --ledger off --edit . -- true' ro)" "hint: either a filesystem"
else
        skip "state on overlayfs" "no overlay can be mounted here"
fi

# A kernel that lets no process trace another: nobody can connect the sockets of a box.
untraced() {
        unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama && echo 3 >/proc/sys/kernel/yama/ptrace_scope && exec "$@"' sh "$@" 2>&1 </dev/null
}
if untraced true; then
        out=$(untraced "$CORDON" run --ledger off --read "$T/door" --net https://a.example/ -- echo RAN)
        is "ptrace_scope 3: no net door beside a directory" "$?:$(echo "$out" | grep -c RAN)" 125:0
        has "the hint is a setting" "$out" "hint: kernel.yama.ptrace_scope = 2"
        is "other boxes run" "$(untraced "$CORDON" run -q --ledger off --read "$T/door" -- cat "$T/door/file")" open
        has "doctor says it" "$(untraced "$CORDON" doctor)" "weak     net sockets"
else
        skip "ptrace_scope 3" "no setting of the kernel can be covered here"
fi
pidfd_getfd=438
is "a socket that cannot be taken is no bad descriptor" "$(try ./deny $pidfd_getfd:$eperm -- "$CORDON" run -q --ledger off --read "$T/door" -- python3 -c 'import socket
try: socket.create_connection(("127.0.0.1", 9))
except OSError as e: print(e.errno)')" $eperm
has "doctor tries it" "$(try ./deny $pidfd_getfd:$eperm -- "$CORDON" doctor)" "weak     net sockets            no net door beside a door to a directory: Operation not permitted"

# A chroot: the kernel allows no user namespace there, and doctor says so.
mkdir -p jail
in_chroot() { unshare -m sh -c 'mount --rbind / "$1" && shift && exec chroot "$@"' sh "$T/jail" "$T/jail" "$@" 2>&1 </dev/null; }
if [ "$(id -u)" -eq 0 ] && in_chroot true; then
        has "a chroot is named as the cause" "$(in_chroot "$CORDON" doctor)" "in a chroot the kernel allows none"
        has "and a box runs there behind the process wall" "$(in_chroot "$CORDON" run -q --ledger off -- sh -c 'echo RAN >~/f && cat ~/f')" RAN
else
        skip "a chroot is named as the cause" "only root makes one"
fi

# A library that the broker needs is missing: its file is named, also where the run fails.
mkdir -m 755 parts && cp "$CORDON_LIBEXEC"/* parts/
echo 'int part(void) { return 0; }' >part.c && echo 'int part(void); int main(void) { return part(); }' >whole.c
if ${CC:-cc} -shared -fPIC -o libcordonpart.so.7 -Wl,-soname,libcordonpart.so.7 part.c && ${CC:-cc} -o whole whole.c ./libcordonpart.so.7 && rm -f parts/cordon-egress && cp whole parts/cordon-egress; then
        chmod 755 parts/*
        lacking() { CORDON_LIBEXEC=$T/parts "$CORDON" "$@" 2>&1 </dev/null; }
        mv libcordonpart.so.7 gone.so
        has "a missing library: doctor names its file" "$(lacking doctor)" "does not load without libcordonpart.so.7, so no net door opens"
        has "and so does the run" "$(lacking run --ledger off --net https://a.example/ -- true)" "does not load without libcordonpart.so.7"
        printf '#!/no/such/loader\n' >parts/cordon-egress
        has "a missing loader is told" "$(lacking doctor)" "does not load without the C library glibc"
else
        skip "a missing library is named" "no C compiler that makes shared libraries"
fi

# Denied reads that cannot be seen: said once, also of a command that succeeds.
if can_hide_fuse; then
        rm -f state-user/told-blind
        out=$(without_fuse "$CORDON" run --ledger off -- sh -c 'cat /etc/shadow || true' 2>&1 </dev/null)
        has "a host that does not show denied reads says so" "$out" "cannot report a blocked read"
        out=$(without_fuse "$CORDON" run --ledger off -- sh -c 'cat /etc/shadow || true' 2>&1 </dev/null)
        hasnt "once" "$out" "cannot report a blocked read"
else
        skip "a host that does not show denied reads says so" "/dev/fuse cannot be hidden here"
fi

# A box in a box: whatever is asked for, the hint is the same.
for doors in "" "--edit $T/door"; do
        # shellcheck disable=SC2086
        has "cordon in a box ${doors:-without doors}" "$(try "$CORDON" run --ledger off --read "$T/door" --read "$(dirname "$CORDON")" --run any -- "$CORDON" run $doors -- true)" "no box starts inside another"
done
done_testing
