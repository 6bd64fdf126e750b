# session_peer.py UID RUN - a client of a session that keeps to no rule. Prints what went wrong; nothing if all held.
import array, os, socket, struct, sys, time

uid, run = sys.argv[1:3]
WALL_MESSAGE = 32
STATE, STOP, LOGS, SESSION, JOIN, WORDS, END = range(1, 8)
SIGNAL, RUN, TTY, END_BOX, LABEL = (int(x) for x in os.environ["COMMANDS"].split())


def connect():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.settimeout(20)
    for _ in range(400):
        try:
            s.connect(f"\0cordon/{uid}/{run}")
            return s
        except BlockingIOError:
            time.sleep(0.02)
    raise SystemExit("the session's queue stays full")


def ask(request, arg=0):
    return struct.pack("<HHIIi", 7, 1, 8, request, arg)


def send(s, data):
    try:
        s.send(data)
    except OSError:  # it hung up on us
        pass


def put(s, data):  # with host_peer_proof()
    pid = struct.unpack("iii", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    proof = []
    try:
        proof = [os.open(f"/proc/{pid}/fdinfo", os.O_RDONLY)]
    except PermissionError:  # another user's keeper
        pass
    try:
        socket.send_fds(s, [data], proof)
    except OSError:
        pass
    for fd in proof:
        os.close(fd)


def join():
    for _ in range(8):
        s = connect()
        try:
            put(s, ask(JOIN))
            data, fds, _, _ = socket.recv_fds(s, 64, 4)
        except OSError:
            continue
        if fds:
            line = socket.socket(fileno=fds[0])
            line.settimeout(20)
            return line, struct.unpack("<HHIIi", data)[3]
    raise SystemExit("no answer to a join")


def joined(line):
    data, fds, _, _ = socket.recv_fds(line, 4096, 4)
    ident, leader = struct.unpack_from("<II", data, 8)
    return ident, leader, fds


def order(command, arg, ident, time_ms=0, label=b""):
    return struct.pack("<HHIIiIQQH", 5, 4, 32 + len(label), command, arg, ident, time_ms, 0, len(label)) + label + b"\0\0"


def is_dropped(line):
    try:
        return line.recv(4096) == b""
    except ConnectionResetError:
        return True
    except socket.timeout:
        return False


# Dies before it asks, after it asked, with the line, with the spare.
connect().close()
s = connect()
put(s, ask(JOIN))
s.close()
join()[0].close()
line, _ = join()
joined(line)[0]
line.close()

# Orders as they should be are taken: what follows is refused for what it says.
line, _ = join()
ident, leader, fds = joined(line)
line.send(order(LABEL, 0, 0))
if is_dropped(line):
    print("refused an order of the right form")
line.send(order(SIGNAL, 0, ident))
line.send(order(LABEL, 0, 0))
if is_dropped(line):
    print("refused an order about its own run")
line.close()
for fd in fds:
    os.close(fd)

# Orders that are not about its run.
victim, _ = join()
other, leader, _ = joined(victim)
for bad in (b"x", b"", os.urandom(500), order(END_BOX, 0, 0), order(SIGNAL, 9, other), order(SIGNAL, 9, 0), order(RUN, leader, other),
            order(99, 1, 1), order(RUN, 0, 0), order(LABEL, 0, 0, 0, b"x" * 704), order(LABEL, 0, 0, 0, b"private:\0a")):
    line, _ = join()
    ident, mine, fds = joined(line)
    line.send(bad if bad else order(RUN, leader, ident))
    if not is_dropped(line):
        print("kept a peer after", bad[:40])
    for fd in fds:
        os.close(fd)
    line.close()

# Descriptors that nobody asked for.
line, _ = join()
ident, leader, _ = joined(line)
null = os.open("/dev/null", os.O_RDONLY)
try:
    socket.send_fds(line, [order(SIGNAL, 1, ident)], [null] * 50)
except OSError:
    pass
if not is_dropped(line):
    print("kept a peer that sent descriptors")
line.close()

# A flood of orders, unread answers, terminals without end.
line, _ = join()
ident, leader, fds = joined(line)
line.setblocking(False)
for i in range(5000):
    try:
        line.send(order((SIGNAL, TTY)[i % 2], 0, ident))
    except BlockingIOError:
        pass
    except OSError:
        break
line.close()

# Runs that have ended and never request their label: the first of too many is dropped.
held = []
for _ in range(66 if uid == "0" else 0):
    line, _ = join()
    ident, leader, fds = joined(line)
    line.send(order(RUN, leader, ident))
    line.send(order(SIGNAL, 9, ident))
    while struct.unpack_from("<H", line.recv(4096))[0] != WALL_MESSAGE + 6:  # its end
        pass
    for fd in fds:
        os.close(fd)
    held.append(line)
if held and not is_dropped(held[0]):
    print("holds any number of runs that have ended")
if held and held[-1].send(order(LABEL, 0, 0)) and is_dropped(held[-1]):
    print("does not answer the newest of them")
for line in held:
    line.close()

# As many as it takes, and one more.
lines = []
refused = 0
for _ in range(70):
    s = connect()
    put(s, ask(JOIN))
    try:
        data, fds, _, _ = socket.recv_fds(s, 64, 4)
    except OSError:
        continue
    if len(data) == 16 and struct.unpack("<HHIIi", data)[3] == 0 and fds:
        lines += fds
    else:
        refused += 1
    s.close()
if not refused:
    print("takes any number of runs")
for fd in lines:
    os.close(fd)

silent = [connect() for _ in range(4)]
for s in silent:
    s.close()
