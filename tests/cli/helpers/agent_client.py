# agent_client.py SOCKET CASE: a hostile client of an ssh-agent; prints what it got.
import socket, struct, sys


def string(b):
    return struct.pack(">I", len(b)) + b


def message(kind, body=b""):
    return struct.pack(">IB", len(body) + 1, kind) + body


def connect():
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(20)
    s.connect(sys.argv[1])
    return s


def read(s):
    """The type of the next message and its body; 'closed'."""
    try:
        head = b""
        while len(head) < 4:
            part = s.recv(4 - len(head))
            if not part:
                return "closed", b""
            head += part
        left, body = struct.unpack(">I", head)[0], b""
        while len(body) < left:
            part = s.recv(left - len(body))
            if not part:
                return "closed", b""
            body += part
        return body[0], body[1:]
    except ConnectionError:
        return "closed", b""


def keys(s):
    s.sendall(message(11))
    kind, body = read(s)
    count, at, found = struct.unpack(">I", body[:4])[0], 4, []
    for _ in range(count):
        n = struct.unpack(">I", body[at : at + 4])[0]
        found.append(body[at + 4 : at + 4 + n])
        at += 4 + n
        n = struct.unpack(">I", body[at : at + 4])[0]
        at += 4 + n
    return found


def sign(key, data, flags=0):
    return message(13, string(key) + string(data) + struct.pack(">I", flags))


s, case = connect(), sys.argv[2]
if case == "oversize":
    s.sendall(struct.pack(">I", 256 * 1024 + 1))
    print(read(s)[0])
elif case == "zero":
    s.sendall(struct.pack(">I", 0))
    print(read(s)[0])
elif case == "fragments":
    for b in message(11):
        s.sendall(bytes([b]))
    print(read(s)[0])
elif case == "pipeline":
    s.sendall(message(11) * 200)
    print(sum(read(s)[0] == 12 for _ in range(200)))
elif case == "unread":  # many requests, no answer is taken
    s.setblocking(False)
    try:
        while True:
            s.send(message(11) * 100)
    except BlockingIOError:
        print("waits")
elif case == "kinds":  # every type but list and sign
    got = set()
    for k in range(256):
        if k not in (11, 13):
            s.sendall(message(k, string(b"x")))
            got.add(read(s)[0])
    print(got)
elif case == "bind":
    s.sendall(message(27, string(b"session-bind@openssh.com") + string(b"k") + string(b"s") + string(b"g") + b"\0"))
    print(read(s)[0], len(keys(s)))
elif case == "inner":  # lengths that lie
    for body in (b"", b"\xff\xff\xff\xff", string(b"k") + b"\0\0\0\x09x", string(b"k") + string(b"d") + b"\0"):
        t = connect()
        t.sendall(message(13, body))
        print(read(t)[0])
elif case == "foreign":  # a key that no door names
    s.sendall(sign(bytes.fromhex(sys.argv[3]), b"data"))
    print(read(s)[0])
elif case == "many":
    key, got = keys(s)[0], []
    for i in range(int(sys.argv[3])):
        s.sendall(sign(key, b"data %d" % i))
        got.append(read(s)[0])
    print(got.count(14), got.count(5))
elif case == "leave":  # asks and is gone
    for i in range(20):
        t = connect()
        t.sendall(sign(keys(s)[0], b"bye %d" % i))
        t.close()
    s.sendall(sign(keys(s)[0], b"data"))
    print(read(s)[0])
elif case == "login":
    key = keys(s)[0]
    data = string(b"S" * 32) + b"\x32" + string(b"root") + string(b"ssh-connection") + string(b"publickey")
    s.sendall(sign(key, data + b"\1" + string(b"ssh-ed25519") + string(key)))
    print(read(s)[0])
elif case == "crowd":
    crowd = [s]
    try:
        while len(crowd) < 200:
            crowd.append(connect())
    except BlockingIOError:
        pass
    s.sendall(message(11))
    print(read(s)[0])
