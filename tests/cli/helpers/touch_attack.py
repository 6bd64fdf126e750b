# Tries to read DIR/a of a place that is shut (`rule touch`) without a touch of it. Prints "secret" if it got it.
import ctypes, fcntl, os, struct, sys, threading

place = sys.argv[1]
parent = os.path.dirname(place)
name = os.path.basename(place)
libc = ctypes.CDLL(None, use_errno=True)
OPENAT2, NAME_TO_HANDLE, OPEN_BY_HANDLE, OPEN_TREE, MOVE_MOUNT = 437, 303, 304, 428, 429
URING_SETUP = 425
if os.uname().machine == "aarch64":
    NAME_TO_HANDLE, OPEN_BY_HANDLE = 264, 265
MS_BIND, MS_REC, MS_REMOUNT, MS_MOVE, MS_PRIVATE = 4096, 16384, 32, 8192, 1 << 18
MNT_DETACH, UMOUNT_NOFOLLOW, MNT_FORCE = 2, 8, 1
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000


def read(path, dir_fd=None):
    try:
        fd = os.open(path, os.O_RDONLY, dir_fd=dir_fd)
        got = os.read(fd, 64)
        os.close(fd)
        return got
    except OSError:
        return b""


def call(nr, *a):
    return libc.syscall(ctypes.c_long(nr), *[ctypes.c_long(x) if isinstance(x, int) else x for x in a])


def openat2(path, resolve, dir_fd=-100, flags=0):
    how = ctypes.create_string_buffer(struct.pack("QQQ", flags, 0, resolve))
    return call(OPENAT2, dir_fd, path.encode(), how, 24)


def bytes_of(fd):
    return os.read(fd, 64) if fd >= 0 else b""


def resolve_no_xdev():  # NO_XDEV, BENEATH, IN_ROOT, CACHED, NO_MAGICLINKS
    d = os.open(parent, os.O_PATH)
    got = b""
    for flag in (0x01, 0x08, 0x10, 0x20, 0x02, 0x01 | 0x08, 0x20 | 0x08):
        got += bytes_of(openat2(name + "/a", flag, d)) + bytes_of(openat2(place + "/a", flag & ~0x08))
    return got


def unmount():
    for flag in (0, MNT_DETACH, MNT_FORCE, UMOUNT_NOFOLLOW | MNT_DETACH):
        libc.umount2(place.encode(), flag)
        libc.umount2(parent.encode(), flag)
    return b""


def remount():
    libc.mount(b"none", place.encode(), None, MS_REMOUNT | MS_BIND, None)
    libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
    libc.mount(place.encode(), b"/tmp", None, MS_MOVE, None)
    return b""


def bind():
    os.makedirs("/tmp/b", exist_ok=True)
    libc.mount(parent.encode(), b"/tmp/b", None, MS_BIND, None)
    libc.mount(b"/", b"/tmp/b", None, MS_BIND, None)
    return read("/tmp/b/" + name + "/a") + read("/tmp/b" + place + "/a")


def tree():
    fd = call(OPEN_TREE, -100, parent.encode(), 1)
    if fd < 0:
        return b""
    got = read(name + "/a", fd)
    os.makedirs("/tmp/t", exist_ok=True)
    call(MOVE_MOUNT, fd, b"", -100, b"/tmp/t", 4)
    return got + read("/tmp/t/" + name + "/a")


def handle():
    got = b""
    d = os.open(parent, os.O_RDONLY)
    for path in (name + "/a", name, "."):
        h = ctypes.create_string_buffer(struct.pack("Ii", 128, 0), 136)
        mount = ctypes.c_int()
        if call(NAME_TO_HANDLE, d, path.encode(), h, ctypes.byref(mount), 0) == 0:
            fd = call(OPEN_BY_HANDLE, d, h, 0)
            got += (read("a", fd) or read(name + "/a", fd)) if fd >= 0 else b""
    return got


def proc():  # roots, working directories and descriptors of other processes; ours only lead to the place itself
    got = b""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for at in ("root" + place, f"cwd/{name}", "root/proc/1/root" + place):
            got += read(f"/proc/{pid}/{at}/a")
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                got += read(f"/proc/{pid}/fd/{fd}/a") + read(f"/proc/{pid}/fd/{fd}/{name}/a")
        except OSError:
            pass
    return got


def uring():
    params = ctypes.create_string_buffer(120)
    fd = call(URING_SETUP, 4, params)
    return b"secret" if fd >= 0 else b""  # with a ring, calls are made that nothing here tries


def fuse():  # another server on the connection of the cover
    try:
        for n in os.listdir("/sys/fs/fuse/connections"):
            open(f"/sys/fs/fuse/connections/{n}/abort", "w").write("1")
    except OSError:
        pass
    try:
        fcntl.ioctl(os.open("/dev/fuse", os.O_RDWR), 0x8004e500, struct.pack("I", 3))
    except OSError:
        pass
    return b""


def overlay():
    for d in ("/tmp/u", "/tmp/k", "/tmp/o"):
        os.makedirs(d, exist_ok=True)
    libc.mount(b"overlay", b"/tmp/o", b"overlay", 0, f"lowerdir={parent},upperdir=/tmp/u,workdir=/tmp/k".encode())
    return read("/tmp/o/" + name + "/a")


def rename():
    for a, b in ((place, parent + "/other"), (parent, parent + ".other")):
        try:
            os.rename(a, b)
        except OSError:
            pass
    try:
        os.link(parent + "/" + name + "x", "/tmp/link")
    except OSError:
        pass
    return read(parent + "/other/a") + read(parent + ".other/" + name + "/a")


def chroot():
    pid = os.fork()
    if pid == 0:
        try:
            os.chroot(parent)
            os.write(1, read("/" + name + "/a"))
        except OSError:
            pass
        os._exit(0)
    os.waitpid(pid, 0)
    return b""


quiet = [unmount, remount, bind, tree, overlay, fuse]


def nested():  # in a user namespace of its own, with all capabilities there
    for flags in (CLONE_NEWUSER | CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNS):
        pid = os.fork()
        if pid == 0:
            got = b"".join(f() for f in quiet) if libc.unshare(flags) == 0 else b""
            os.write(1, got)
            os._exit(0)
        os.waitpid(pid, 0)
    return b""


def threads():  # one takes covers off and moves them while others open
    over, got = [], []

    def swap():
        while not over:
            unmount()
            remount()

    def look():
        got.extend(read(place + "/a") for _ in range(40))

    readers = [threading.Thread(target=look) for _ in range(4)]
    swapper = threading.Thread(target=swap)
    for t in [swapper] + readers:
        t.start()
    for t in readers:
        t.join()
    over.append(1)
    swapper.join()
    return b"".join(got)


# A way that looks the place up touches it, and reads with the label: the caller compares.
print("BEGAN")
sys.stdout.flush()
got = globals()[sys.argv[2]]()
print("secret" if b"secret" in got else "")
