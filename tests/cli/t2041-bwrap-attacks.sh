#!/bin/sh
# cordon-bwrap: what a command tries from inside, and what a hostile directory or argument file tries during the setup.
. "$(dirname "$0")/lib.sh"
B=$T/libexec/cordon-bwrap
if [ "$(id -u)" -eq 0 ]; then users="root as_user"; else users=as_user; fi
root() { "$@"; }
base="--ro-bind / / --dev-bind /dev /dev --tmpfs /tmp"

# ---- symlinks at destinations: the canary outside stays as it is
mkdir -p "$T/canary/sub" "$T/app" && echo safe >"$T/canary/file" && chmod -R 777 "$T/canary" "$T/app"
echo evil >"$T/evil"
shot() { find "$T/canary" -printf '%P %m %s %l\n' | sort; }
before=$(shot)
for link in "$T/canary" "../../../../../../../../..$T/canary" "/proc/self/root$T/canary" "/proc/1/cwd/..$T/canary" "/old$T/canary" "/../..$T/canary"; do
        rm -f "$T/app/link" && ln -s "$link" "$T/app/link"
        for who in $users; do
                for op in "--dir /app/link/new" "--file 5 /app/link/file" "--bind-data 5 /app/link/file" "--ro-bind /usr /app/link/sub" "--symlink x /app/link/l" \
                        "--chmod 0000 /app/link/file" "--tmpfs /app/link" "--perms 0700 --dir /app/link/a/b" "--remount-ro /app/link" "--dev /app/link/dev"; do
                        # shellcheck disable=SC2086
                        "$who" "$B" --tmpfs / --bind "$T/app" /app $op true >/dev/null 2>&1 5<"$T/evil"
                done
        done
done
is "no destination leads out of the new root" "$(shot)" "$before"

# One that is swapped while boxes start.
mkdir "$T/app/real" && chmod 777 "$T/app/real" && rm -f "$T/app/link"
python3 - "$T" <<'END' &
import os, sys
t = sys.argv[1]
while os.path.exists(t + "/app"):
    try:
        os.symlink(t + "/canary", t + "/app/x"); os.rename(t + "/app/x", t + "/app/swap")
        os.unlink(t + "/app/swap"); os.mkdir(t + "/app/swap"); os.rmdir(t + "/app/swap")
    except OSError:
        pass
END
racer=$!
for who in $users; do
        for i in $(seq 40); do
                "$who" "$B" --tmpfs / --bind "$T/app" /app --file 5 "/app/swap/file$i" true >/dev/null 2>&1 5<"$T/evil"
                "$who" "$B" --tmpfs / --bind "$T/app" /app --dir "/app/swap/dir$i" true >/dev/null 2>&1
        done
done
kill $racer
wait $racer 2>/dev/null
is "nor does one that another process swaps" "$(shot)" "$before"

# ---- privileges
if [ "$(id -u)" -eq 0 ]; then
        D=$(mktemp -d /var/tmp/cordon-bwrap.XXXXXX) && chmod 755 "$D" && cp "$B" "$D/bwrap" && chmod 4755 "$D/bwrap"
        has "it does not run setuid" "$(as_user "$D/bwrap" --ro-bind / / id 2>&1)" "does not run setuid"
        chmod 755 "$D/bwrap"
        setcap cap_sys_admin+ep "$D/bwrap" 2>/dev/null && has "nor with capabilities of its file" "$(as_user "$D/bwrap" --ro-bind / / id 2>&1)" "Unexpected capabilities"
        cp "$(command -v id)" "$D/id" && chmod 4755 "$D/id"
        is "a setuid program inside gains nothing" "$(as_user "$B" --bind / / "$D/id" -u 2>&1)" 65533
        rm -rf "$D"
fi
# Files of the host are opened for writing at most, never written to: a wall that is down must not cost the machine.
got=$(as_user "$B" --unshare-user --uid 0 --gid 0 $base sh -c 'echo BEGAN; mount -t tmpfs x /tmp 2>&1; umount -l /tmp && echo escaped' 2>&1)
never "uid 0 inside has no privilege" "$got" escaped
plain=$(ls /proc/self/fd | tr '\n' ' ')
for who in $users; do
        for proc in "--unshare-pid --proc /proc" "--proc /proc"; do
                # shellcheck disable=SC2086
                got=$("$who" "$B" --unshare-user --ro-bind / / $proc --dev /dev sh -c 'echo BEGAN
                        for f in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/overcommit_memory /proc/sysrq-trigger /etc/passwd; do
                                { : >>$f; } 2>/dev/null && echo opened $f
                        done
                        test / -ef /.. || echo /..; ls -d /old /new /aside 2>/dev/null' 2>&1)
                is "$who: $proc and the read-only root hold, and nothing of the setup is left" "$got" BEGAN
        done
        # A nested user namespace cannot undo what the box has as read-only.
        got=$("$who" "$B" --unshare-user --ro-bind / / --dev-bind /dev /dev sh -c 'echo BEGAN
                unshare -rm sh -c "mount -o remount,rw,bind / && echo remounted; umount -l / && echo unmounted"' 2>/dev/null)
        is "$who: nor does a user namespace inside undo it" "$got" BEGAN
        is "$who: no descriptor of the setup is left" "$("$who" "$B" $base sh -c 'ls /proc/self/fd | tr "\n" " "')" "$plain"
done

# ---- processes outside
sleep 600 &
victim=$!
cat >"$T/probe.py" <<'END'
import ctypes, errno, os, sys
c = ctypes.CDLL(None, use_errno=True)
def call(*a):
    ctypes.set_errno(0)
    r = c.syscall(*a)
    return errno.errorcode.get(ctypes.get_errno(), "0") if r < 0 else "done"
x86 = os.uname().machine == "x86_64"
victim = int(sys.argv[1])
print("BEGAN")
print("ptrace", call(101 if x86 else 117, 0x4206, victim, 0, 0))
print("signal", call(62 if x86 else 129, victim, 0))
print("keyctl", call(250 if x86 else 219, 0, -3, 0))
print("io_uring", call(425, 8, 0))
print("bpf", call(321 if x86 else 280, 0, 0, 0))
print("userfaultfd", call(323 if x86 else 282, 0))
print("handle", call(304 if x86 else 265, -1, 0, 0))
if x86:
    print("x32", call(0x40000000 + 39))
END
chmod 644 "$T/probe.py"
[ "$(id -u)" -ne 0 ] || { kill $victim; as_user sleep 600 & victim=$!; }
got=$(as_user "$B" --ro-bind / / python3 "$T/probe.py" $victim 2>&1)
never "a process outside is not traced" "$got" "ptrace done"
scoped=$(python3 -c 'import ctypes; print(ctypes.CDLL(None).syscall(444, None, 0, 1))')
if [ "$scoped" -ge 6 ]; then has "nor signalled" "$got" "signal EPERM"; else skip "nor signalled" "this kernel's Landlock has no scopes"; fi
for row in "keyctl EPERM" "io_uring ENOSYS" "bpf EPERM" "userfaultfd EPERM" "handle EPERM"; do has "denied: $row" "$got" "$row"; done
[ "$(uname -m)" != x86_64 ] || has "denied: x32" "$got" "x32 ENOSYS"
has "a capability that an option names lets its call through" "$(as_user "$B" --unshare-user --cap-add CAP_BPF --ro-bind / / python3 "$T/probe.py" $victim 2>&1)" "bpf EINVAL"
kill $victim
# Of the reaper beside the command: its program, which may be root's own file, its descriptors and its root.
for who in $users; do
        got=$("$who" "$B" --unshare-user --unshare-pid --cap-drop ALL --ro-bind / / --proc /proc sh -c 'echo BEGAN; readlink /proc/1/exe /proc/1/fd/0 /proc/1/root; ls /proc/1/root/; head -c 1 /proc/1/mem' 2>/dev/null)
        if [ "$scoped" -ge 1 ]; then is "$who: process 1 shows nothing of itself" "$got" BEGAN; else skip "$who: process 1 shows nothing of itself" "no Landlock"; fi
done

# ---- the terminal
cat >"$T/type.py" <<'END'
import errno, fcntl, sys, termios
for name, request in ("TIOCSTI", termios.TIOCSTI), ("high", termios.TIOCSTI | 1 << 40), ("TIOCLINUX", 0x541c):
    try:
        import ctypes
        c = ctypes.CDLL(None, use_errno=True)
        r = c.ioctl(0, ctypes.c_ulong(request), b"\x0b")
        print(name, "done" if r == 0 else errno.errorcode[ctypes.get_errno()])
    except OSError as e:
        print(name, e)
END
chmod 644 "$T/type.py"
got=$(terminal "$B" --ro-bind / / python3 "$T/type.py" | tr -d '\r')
is "nothing is typed into the caller's terminal" "$got" "TIOCSTI EPERM
high EPERM
TIOCLINUX EPERM"

# ---- argument files
hostile() { printf '%b' "$1" >"$T/args" && "$B" --args 6 --ro-bind / / true 2>&1 6<"$T/args"; }
has "one that names another" "$(hostile '--args\0\0066\0')" "--args not supported in arguments file"
has "one with a command in it" "$(hostile '--dir\0/tmp/x\0true\0--unshare-net\0')" "not an option: true"
has "one that ends in the middle" "$(hostile '--bind\0/')" "--bind takes two arguments"
python3 -c 'import sys; sys.stdout.write("--unshare-net\0" * 9001)' >"$T/args"
has "one with too many" "$("$B" --args 6 --ro-bind / / true 2>&1 6<"$T/args")" "Exceeded maximum number of arguments"
has "one without an end" "$("$B" --args 6 --ro-bind / / true 2>&1 6</dev/zero)" "Can't read --args data"
has "a descriptor that is not open" "$("$B" --args 77 --ro-bind / / true 2>&1)" "Can't read --args data: Bad file descriptor"
has "nor is one of our own taken for it" "$("$B" --ro-bind / / --tmpfs /tmp --bind-fd 77 /tmp/x true 2>&1)" "fd 77"
has "a number that is none" "$("$B" --uid 99999999999 true 2>&1)" "Invalid uid"
done_testing
