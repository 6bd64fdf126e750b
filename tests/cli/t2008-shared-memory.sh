# Memory that is in no process (memory files, SysV segments) counts against the limit where no control group counts; and what
# is the keeper's, or is there once and seen often, or is not there at all, does not.
here=$(cd "$(dirname "$0")" && pwd)
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
compile shared
memory=64M
# shellcheck disable=SC2086
# box MIB HOW: how a run with a limit of 64M, or else $memory, ended, without control groups
box() {
        as_user "$CORDON" run -q --status-fd 3 --wall 'namespace without cgroup' --memory $memory --read "$T/shared" --files 1024 --procs 256 -- "$T/shared" "$2" "$1" 3>"$T/status" >"$T/out" 2>"$T/err" </dev/null
        echo "$?:$(jq -r '.limit // "none"' "$T/status"):$(cat "$T/out")"
}
for how in memfd memfds mapped segments forked headless headless-mapped apart hidden; do
        is "96M, $how: the memory limit ends it" "$(box 96 $how)" "124:memory:"
done
for how in memfd memfds mapped segments forked headless headless-mapped apart hidden; do
        is "40M, $how: counts once" "$(box 40 $how)" "0:none:held"
done
# A process shows no memory when the thread that it began with is gone. One has no more than the limit; three do.
three() { as_user "$CORDON" run -q --status-fd 3 --wall 'namespace without cgroup' --memory 64M --read "$T/shared" -- sh -c "for i in 1 2 3; do $T/shared headless-own $1 & done; wait" 3>"$T/status" >/dev/null 2>&1; echo "$?:$(jq -r '.limit // "none"' "$T/status")"; }
is "96M of three processes without their first threads: the memory limit ends it" "$(three 32)" "124:memory"
is "30M of them: is held" "$(three 10)" "0:none"
# A look at so many takes half a second, and its whole rest would be five.
memory=512M
is "few beside 200000 descriptors: is held" "$(box 10 crowd)" "0:none:held"
# On a busy machine one look may still take all of the time: six tries.
crowded() {
        for _ in 1 2 3 4 5 6; do
                how=$(box 600 crowd)
                [ "$how" = 124:memory: ] && break
        done
        echo "$how"
}
is "600M beside 200000 descriptors: the memory limit ends it" "$(crowded)" "124:memory:"
memory=64M
is "a terabyte with a page in it is a page" "$(box 1048576 sparse)" "0:none:held"
box 40 memfd >/dev/null
ok "what was held stands in the result" jq -e '.memory_peak >= 40*1024*1024 and .memory_peak < 64*1024*1024' "$T/status"

# A handle is a memory file of the keeper's: larger than the limit, and none of the box's memory.
head -c 83886080 /dev/zero >"$T/large"
chmod 644 "$T/large"
as_user "$CORDON" run -q --wall 'namespace without cgroup' --memory 64M --in 'input max 100M' --handle "input=$T/large" -- sh -c 'sleep 0.3; wc -c <"$CORDON_IN_INPUT"' >"$T/out" 2>"$T/err"
is "a handle of 80M is not the box's memory" "$?:$(cat "$T/out" "$T/err")" "0:83886080"
mkdir -m 777 "$T/any"
# One that the box fills is: its size is looked at only when the box is over.
as_user "$CORDON" run -q --status-fd 3 --wall 'namespace without cgroup' --memory 64M --out 'output max 1M' --handle "output=$T/any/never" -- \
        sh -c 'head -c 100663296 /dev/zero >"$CORDON_OUT_OUTPUT"; sleep 8; echo held' 3>"$T/status" >"$T/out" 2>"$T/err"
is "96M, in a handle that goes out: the memory limit ends it" "$?:$(jq -r '.limit // "none"' "$T/status"):$(cat "$T/out")" "124:memory:"

# With control groups, the group counts, and nothing is looked for.
if [ "$(id -u)" -eq 0 ] && "$CORDON" run -q --require-limit -- true 2>/dev/null; then
        "$CORDON" run -q --status-fd 3 --memory 64M --read "$T/shared" --files 512 -- "$T/shared" memfds 96 3>"$T/status" >/dev/null 2>&1
        is "with control groups it is the group's" "$(jq -r .limit "$T/status")" memory
else
        skip "with control groups it is the group's" "no control group can be made here"
fi

# What the kernel keeps for a box, and nobody's share of memory tells: much of it is not to be had.
for wall in 'namespace without cgroup' process; do
        kernel() { as_user "$CORDON" run -q --wall "$wall" --memory 64M -- perl -e "$1" 2>&1; }
        case $(uname -m) in aarch64) prctl=167 semget=190 msgget=186 ;; *) prctl=157 semget=64 msgget=68 ;; esac
        if [ "$(perl -e "print syscall($prctl, 78, 2, 0, 0, 0)")" -ge 0 ]; then
                is "$wall: a table of futexes has the size that the kernel chose" "$(kernel "print syscall($prctl, 78, 1, 1 << 24, 0, 0)")" -1
        else
                skip "$wall: a table of futexes has the size that the kernel chose" "this kernel has none for a process (Linux 6.16)"
        fi
        is "$wall: no rules of Landlock" "$(kernel 'print syscall(444, 0, 0, 1)')" -1
        most=$(kernel "for (\$n = 0; \$n < 1000; \$n++) { last if syscall($semget, 0, 250, 0600) < 0 } print \$n")
        ok "$wall: at most 128 sets of semaphores (${most:-none})" test "${most:-999}" -le 128
        most=$(kernel "for (\$n = 0; \$n < 1000; \$n++) { last if syscall($msgget, 0, 0600) < 0 } print \$n")
        ok "$wall: at most 64 queues of messages (${most:-none})" test "${most:-999}" -le 64
        is "$wall: no set of 32000" "$(kernel "print syscall($semget, 0, 32000, 0600)")" -1
        # A byte of a page in a pipe or socket holds the page, of 2M where it is a huge one, after it is in no process and no file any more.
        case $(uname -m) in aarch64) vmsplice=75 ;; *) vmsplice=278 ;; esac
        is "$wall: pages are held by no pipe and no socket" "$(as_user "$CORDON" run -q --wall "$wall" --run any -- python3 -c "
import ctypes, os, socket, struct
a, b = socket.socketpair()
r, w = os.pipe()
f = os.open('/usr/bin/env', os.O_RDONLY)
page = ctypes.create_string_buffer(b'x')
part = ctypes.create_string_buffer(struct.pack('PN', ctypes.addressof(page), 1))
libc = ctypes.CDLL(None, use_errno=True)
for name, attempt in ('sendfile', lambda: os.sendfile(a.fileno(), f, 0, 1)), ('splice', lambda: os.splice(f, w, 1, offset_src=0)):
    try:
        print(name, attempt())
    except OSError as e:
        print(name, e.errno)
print('vmsplice', libc.syscall($vmsplice, w, part, ctypes.c_ulong(1), 0), ctypes.get_errno())" 2>&1 | tr '\n' ' ')" "sendfile 22 splice 22 vmsplice -1 22 "
        is "$wall: programs copy all the same" "$(as_user "$CORDON" run -q --wall "$wall" --write "$T/any" -- python3 -c "import filecmp, shutil; shutil.copyfile('/usr/bin/env', '$T/any/copy'); print(filecmp.cmp('/usr/bin/env', '$T/any/copy', False))" 2>&1)" True
        is "$wall: no filter on a socket" "$(as_user "$CORDON" run -q --wall "$wall" -- python3 -c '
import socket
a, b = socket.socketpair()
try:
    a.setsockopt(socket.SOL_SOCKET, 26, b"\0" * 16)
except OSError as e:
    print(e.errno)' 2>&1)" 1
done
# No control group counts lists of who may open a file in /tmp, or a memory file: 128K each, two for a directory.
for who in '' as_user; do
        is "${who:-root}: who may open a file is a short list" "$($who "$CORDON" run -q -- python3 -c '
import os, struct
def listed(n):
    names = [(1, 7, 2**32 - 1)] + [(2, 7, os.getuid())] * (n - 4) + [(k, 7, 2**32 - 1) for k in (4, 16, 32)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *x) for x in names)
os.mkdir("/tmp/d")
for at in "/tmp/d", os.memfd_create("x", 8):
    for n in 20, 8191:
        try:
            os.setxattr(at, "system.posix_acl_access", listed(n))
            print("set")
        except OSError as e:
            print(e.errno)' 2>&1 | tr '\n' ' ')" "set 28 set 28 "
done
done_testing
