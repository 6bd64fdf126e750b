# What `ps`, `inspect`, `stop` and `logs` say to a keeper and hear from it, without their care (src/run/keeper/registry.c).
#   ask UID RUN REQUEST ARG   asks the keeper of that run; prints the answer, or "nothing"
#   pretend UID RUN NAME      binds the name of a run, says so, and answers whoever asks, until its input ends
#   bind NAME                 binds that name and says so, until its input ends
#   silent UID RUN            calls the keeper, says so, and says nothing to it until its input ends
import array, json, os, select, socket, struct, sys


def message(request, arg):  # src/base/wire/wire.h: type, version, length, fields
    return struct.pack("<HHIIi", 7, 1, 8, request, arg)


def address(uid, run):
    return "\0cordon/%s/%s" % (uid, run)


def ask(uid, run, request, arg):
    got, control = b"", []
    for _ in range(20):  # a keeper does not wait long for the question: who was held up asks again, as cordon does
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(3)
        try:
            s.connect(address(uid, run))
            pid = struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
            proof = os.open(f"/proc/{pid}/fdinfo", os.O_RDONLY)  # host_peer_proof()
            socket.send_fds(s, [message(int(request), int(arg))], [proof])
            got, control, _, _ = s.recvmsg(16, socket.CMSG_SPACE(4))
        except socket.timeout:
            break
        except OSError:
            continue
        if got:
            break
    if not got or not control:
        print("nothing")
        return
    fd = array.array("i", control[0][2])[0]
    os.lseek(fd, 0, os.SEEK_SET)
    print("answered", os.read(fd, 65536).decode())


def pretend(uid, run, name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind(address(uid, run))
    s.listen(8)
    print("bound", flush=True)
    while s in select.select([s, sys.stdin], [], [])[0]:
        c, _ = s.accept()
        try:
            c.recv(16)
            fd = os.memfd_create("answer")
            os.write(fd, json.dumps({"run": run, "name": name, "command": ["x"]}, separators=(",", ":")).encode())
            c.sendmsg([message(0, 0)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", fd))])
        except OSError:
            pass
        c.close()


def bind(name):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind("\0" + name)
    s.listen(8)
    print("bound", flush=True)
    sys.stdin.read()


def silent(uid, run):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect(address(uid, run))
    print("called", flush=True)
    sys.stdin.read()


{"ask": ask, "pretend": pretend, "bind": bind, "silent": silent}[sys.argv[1]](*sys.argv[2:])
