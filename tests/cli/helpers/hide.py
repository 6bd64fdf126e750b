# hide.py WAY DIRECTORY: thirty files of 10 MB that have no name and, by WAY, no descriptor of a process either
import array, mmap, os, socket, sys, time
way, where = sys.argv[1:]
os.chdir(where)
held = []
listener = None

def send(s, f):
    s.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [f.fileno()]))])

for i in range(30):
    f = open("%d" % i, "w+b", buffering=0)
    os.unlink(f.name)
    for _ in range(10):
        f.write(b"x" * 1000000)
    if way == "flight":  # in the queue of a socket
        if not held:
            held = socket.socketpair()
        send(held[0], f)
    elif way == "nested":  # in the queue of a socket that is itself in one
        a, b = socket.socketpair()
        send(a, f)
        if not held:
            held = socket.socketpair()
        send(held[0], b)
        a.close()
        b.close()
    elif way == "unaccepted":  # in the queue of a connection that nobody took
        if not listener:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind("\0hide")
            listener.listen(64)
        s = socket.socket(socket.AF_UNIX)
        s.connect("\0hide")
        send(s, f)
        s.close()
    elif way == "mapped":  # one page of it
        held.append(mmap.mmap(os.dup(f.fileno()), 4096))
        # python keeps a descriptor of its own for a mapping: away with it
        for fd in range(3, 64):
            try:
                if os.readlink("/proc/self/fd/%d" % fd).endswith("/%d (deleted)" % i) and fd != f.fileno():
                    os.close(fd)
            except OSError:
                pass
    f.close()
    time.sleep(0.05)
time.sleep(20)
print("held")
