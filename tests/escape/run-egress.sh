#!/bin/sh
# tests/escape/run-egress.sh - attacks on the way out: each must reach nothing, and the outside must see nothing of it. The
# broker itself is looked at from outside: what it could still do if it were taken.
NET_LIB=$(dirname "$0")/../cli
. "$NET_LIB/lib-net.sh"
cat >"$T/attack.py" <<'END'
import ctypes, errno, fcntl, os, socket, struct, subprocess, sys, threading, time
def say(name, ok): print("%s %s" % ("held" if ok else "BROKEN", name), flush=True)
def refused(name, f):
    try:
        r = f()
        say(name, r is None or r is False)
    except OSError as e:
        say(name, True)
LONG = 20 # for what comes at once: a broker on a busy machine may answer late
def ask(q, to=("198.19.255.1", 53), tcp=False):
    s = socket.socket(socket.AF_INET6 if ':' in to[0] else socket.AF_INET, socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM); s.settimeout(LONG)
    s.connect(to)
    if tcp:
        s.sendall(struct.pack('>H', len(q)) + q); r = b''
        while len(r) < 2 or len(r) < 2 + struct.unpack('>H', r[:2])[0]:
            b = s.recv(4096)
            if not b: break
            r += b
        return r[2:]
    s.send(q)
    return s.recv(4096)
def query(labels, kind=1, flags=0x100):
    return struct.pack('>HHHHHH', 77, flags, 1, 0, 0, 0) + b''.join(bytes([len(l)]) + l for l in labels) + b'\0' + struct.pack('>HH', kind, 1)
def code(labels, kind=1, **k):
    r = ask(query(labels, kind), **k); return r[3] & 15, struct.unpack('>H', r[6:8])[0]
# ---- names ----
say("an allowed name has one address", code([b'web', b'test']) == (0, 1))
say("whatever its case", code([b'WEB', b'tEsT']) == (0, 1))
say("over TCP too", code([b'web', b'test'], tcp=True) == (0, 1))
say("a resolver that is wired in gets the same answer", code([b'web', b'test'], to=("8.8.8.8", 53)) == (0, 1))
say("and knows no more", code([b'four', b'test'], to=("8.8.8.8", 53)) == (3, 0))
def or_silence(f):
    try: return f()
    except OSError as e: return e
for tcp in (False, True):
    say("so does one of IPv6" + " over TCP" * tcp, or_silence(lambda: code([b'web', b'test'], 28, to=("2001:4860:4860::8888", 53), tcp=tcp)) == (0, 1))
    say("which knows no more" + " over TCP" * tcp, or_silence(lambda: code([b'four', b'test'], 28, to=("2001:4860:4860::8888", 53), tcp=tcp)) == (3, 0))
for n, l in {'NUL': [b'four.test\0.web', b'test'], 'NUL first': [b'\0web', b'test'], 'dot in a label': [b'x.web', b'test'], 'suffix': [b'evilweb', b'test'],
             'prefix': [b'web', b'test', b'evil'], 'below an exact name': [b'a', b'web', b'test'], 'percent': [b'web%00', b'test'], 'at': [b'a@web', b'test'],
             'bracket': [b'[web', b'test]'], 'space': [b'web ', b'test'], 'tab': [b'web\t', b'test'], 'newline': [b'web\n', b'test'], 'DEL': [b'web\x7f', b'test'],
             'high byte': [b'w\xc3\xa9b', b'test'], 'star': [b'*', b'test'], 'zone': [b'fe80::1%eth0'], 'number': [b'127', b'0', b'0', b'1'], 'hex': [b'0x7f000001'],
             'decimal': [b'2130706433'], 'empty': []}.items():
    say("no such name: " + n, code(l)[1] == 0)
for i in range(1, 32): say("no such name: control byte %d" % i, code([b'web' + bytes([i]), b'test'])[1] == 0)
for kind in (2, 5, 6, 12, 15, 16, 33, 64, 65, 252, 255): say("no record of type %d" % kind, code([b'web', b'test'], kind)[1] == 0)
say("a name as data goes nowhere", all(code([b'%032x' % i, b'exfil', b'test']) == (3, 0) for i in range(50)))
# ---- questions that are none ----
def raw(q, wait=0.4):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(wait); s.connect(("198.19.255.1", 53)); s.send(q)
    try: return s.recv(4096)
    except OSError: return b''
def no_address(r): return r == b'' or struct.unpack('>H', r[6:8])[0] == 0
web, tail = b'\x03web\x04test\x00', struct.pack('>HH', 1, 1)
def head(qd=1, an=0, ns=0, ar=0, flags=0x100): return struct.pack('>HHHHHH', 77, flags, qd, an, ns, ar)
for n, q in {'a pointer to itself': head() + b'\xc0\x0c' + tail, 'a pointer behind a label': head() + b'\x03web\xc0\x0c' + tail, 'two pointers in a ring': head() + b'\xc0\x0e\xc0\x0c' + tail,
             'a pointer out of it': head() + b'\xff\xff' + tail, 'a label of 64': head() + b'\x40' + b'a' * 64 + b'\0' + tail, 'a label of 191': head() + b'\xbf' + b'a' * 191 + b'\0' + tail,
             'no end': head() + b'\x03web', 'a label that is cut': head() + b'\x3fweb', 'no type': head() + web, 'half a type': head() + web + b'\0', 'no question': head(0), 'no question, but its bytes': head(0) + web + tail,
             'two questions': head(2) + web + tail + web + tail, '65535 questions': head(65535) + web + tail, 'an answer in it': head(1, 1) + web + tail, 'an authority in it': head(1, 0, 1) + web + tail,
             'two more records': head(1, 0, 0, 2) + web + tail, 'bytes behind it': head() + web + tail + b'x', 'an EDNS record that is cut': head(ar=1) + web + tail + b'\0\0\x29\x10\0',
             'an EDNS record that is longer': head(ar=1) + web + tail + b'\0\0\x29\x10\0\0\0\0\0\xff\xff', 'a record that is no EDNS': head(ar=1) + web + tail + b'\0\0\x01\x10\0\0\0\0\0\0\0',
             'an update': head(flags=0x2800) + web + tail, 'a status': head(flags=0x1000) + web + tail, 'another class': head() + web + struct.pack('>HH', 1, 3), 'class any': head() + web + struct.pack('>HH', 1, 255),
             'nothing': b'', 'one byte': b'x', 'eleven bytes': b'x' * 11, 'a name of 300': head() + (b'\x3f' + b'a' * 63) * 5 + b'\0' + tail, '4 kB': head() + web + tail + b'\0' * 4000}.items():
    say("no address for: " + n, no_address(raw(q)))
say("an answer is not answered", raw(head(flags=0x8180) + web + tail) == b'')
say("EDNS with options is", struct.unpack('>H', raw(head(ar=1) + web + tail + b'\0\0\x29\x10\0\0\0\x80\0\0\x0c\0\x0a\0\x08' + b'c' * 8, LONG)[6:8])[0] == 1)
def answers(got):
    n = 0
    while len(got) >= 2 and len(got) >= 2 + struct.unpack('>H', got[:2])[0]: got = got[2 + struct.unpack('>H', got[:2])[0]:]; n += 1
    return n
def stream(*pieces, wait=0.4, want=1): # until so many answers came, and then a little longer: there may be one too many
    s = socket.create_connection(("198.19.255.1", 53), LONG); got = b''
    try:
        for x in pieces: s.sendall(x); time.sleep(0.01)
        while s.settimeout(LONG if answers(got) < want else wait) or (b := s.recv(65536)): got += b
    except OSError: pass
    s.close(); return got
one = struct.pack('>H', len(head() + web + tail)) + head() + web + tail
size = len(stream(one))
say("TCP: a byte at a time", size > 0 and len(stream(*[one[i:i + 1] for i in range(len(one))])) == size)
say("TCP: ten in one piece", len(stream(one * 10, want=10)) == 10 * size)
say("TCP: cut across two questions", len(stream((one * 2)[:len(one) + 1], (one * 2)[len(one) + 1:], want=2)) == 2 * size)
for n, x in {'half a length': b'\0', 'a length of nothing': b'\0\0' + one, 'a length of 65535': b'\xff\xff' + one, 'a question that is cut': one[:-1], 'a length that is short': b'\0\x05' + one[2:]}.items():
    say("TCP: no answer to " + n, stream(x, want=0) == b'')
held = [socket.create_connection(("198.19.255.1", 53), LONG) for _ in range(64)]
[h.sendall(b'\0') for h in held[:8]]
say("with 64 that say nothing, UDP answers", code([b'web', b'test']) == (0, 1))
time.sleep(6)
say("and after five seconds TCP does again", any(len(stream(one)) == size for _ in range(10)))
[h.close() for h in held]
# ---- numbers ----
def tcp(a, p, fam=socket.AF_INET, say_hello=True):
    s = socket.socket(fam, socket.SOCK_STREAM); s.settimeout(4)
    s.connect((a, p)); s.sendall(b"GET /escape HTTP/1.0\r\n\r\n")
    return len(s.recv(100)) > 0
for a in ('11.22.33.44', '11.22.33.1', '198.18.0.77', '198.18.255.255', '198.19.255.1', '169.254.169.254', '10.0.0.1', '1.1.1.1', '240.0.0.1'):
    refused("by number: " + a, lambda: tcp(a, 80))
    refused("by number, a service of the host: " + a, lambda: tcp(a, 9))
for a in ('2a00:1111::44', '2a00:1111::1', 'fd53:c0d0::77', 'fd53:c0d1::1', '::ffff:11.22.33.44', '64:ff9b::b16:212c', 'fd00:ec2::254', '::'):
    refused("by number: " + a, lambda: tcp(a, 80, socket.AF_INET6))
for p in (1, 9, 22, 25, 111, 443, 2375, 6379, 8080, 65535):
    refused("an allowed name at port %d" % p, lambda: tcp('web.test', p))
refused("DNS over HTTPS has no door", lambda: tcp('1.1.1.1', 443))
# ---- kinds of sockets ----
def sock(f, t, p=0): return lambda: socket.socket(f, t, p)
for n, f in {'raw': sock(2, 3, 1), 'raw 6': sock(10, 3, 58), 'packet': sock(17, 3), 'ping': sock(2, 2, 1), 'vsock': sock(40, 1), 'netlink of sockets': sock(16, 3, 4), 'netlink audit': sock(16, 3, 9), 'netlink generic': sock(16, 3, 16), 'mptcp': sock(2, 1, 262),
             'sctp': sock(2, 1, 132), 'udplite': sock(2, 2, 136), 'dccp': sock(2, 6, 33), 'alg': sock(38, 5), 'tipc': sock(30, 1), 'bluetooth': sock(31, 3), 'xdp': sock(44, 3), 'smc': sock(43, 1)}.items():
    refused("no such socket: " + n, f)
def udp(a, p):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.connect((a, p)); s.send(b'x' * 100)
    try: return len(s.recv(10)) > 0
    except TimeoutError: return False
for a, p in (('11.22.33.44', 443), ('11.22.33.53', 53000), ('8.8.8.8', 123), ('198.18.0.1', 80)): refused("UDP to %s:%d" % (a, p), lambda: udp(a, p))
# ---- options and interfaces ----
def opt(level, name, value, fam=socket.AF_INET):
    def f():
        s = socket.socket(fam, socket.SOCK_STREAM); s.settimeout(3)
        s.setsockopt(level, name, value)
        s.connect(('198.18.0.77', 80) if fam == socket.AF_INET else ('fd53:c0d0::77', 80)); s.sendall(b'GET /escape HTTP/1.0\r\n\r\n'); return len(s.recv(10)) > 0
    return f
refused("source routing", opt(0, 4, b'\x83\x07\x04\x0b\x16\x21\x2c'))
refused("a routing header", opt(41, 57, bytes([0, 2, 4, 0, 0, 0, 0, 0]) + socket.inet_pton(10, '2a00:1111::44'), socket.AF_INET6))
refused("another device", opt(1, 25, b'lo\0'))
refused("transparent", opt(0, 19, struct.pack('i', 1)))
refused("a mark", opt(1, 36, struct.pack('i', 1)))
def told_no(name, s, level, option, value):
    try: s.setsockopt(level, option, value); refused(name, lambda: True)
    except OSError as e: refused(name, lambda: e.errno != 1)
s = socket.create_connection(('web.test', 80), 5)
told_no("TLS by the kernel", s, 6, 31, b'tls')
told_no("IPsec by the kernel", s, 6, 31, b'espintcp')
told_no("a key for a peer", s, 6, 14, bytes(216))
told_no("IPsec in UDP", socket.socket(socket.AF_INET, socket.SOCK_DGRAM), 17, 100, struct.pack('i', 2))
def ioctl(nr, data):
    def f():
        fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_DGRAM), nr, data); return True
    return f
refused("the namespace of a socket", lambda: fcntl.ioctl(socket.socket(socket.AF_INET, socket.SOCK_STREAM), 0x894C) >= 0)
refused("a new address", ioctl(0x8916, struct.pack('16sH2s4s8s', b'eth0', 2, b'\0\0', socket.inet_aton('11.22.33.2'), b'\0' * 8)))
refused("the link down", ioctl(0x8914, struct.pack('16sh14s', b'eth0', 0, b'\0' * 14)))
refused("a new name for the link", ioctl(0x8923, struct.pack('16s16s', b'eth0', b'evil')))
# ---- the caller's shape ----
env = dict(os.environ, http_proxy='http://11.22.33.44:80', https_proxy='http://11.22.33.44:80', ALL_PROXY='http://11.22.33.44:80', no_proxy='')
say("proxy variables lead nowhere", subprocess.run(['curl', '-sS', '-m', '4', 'http://four.test/escape'], env=env, capture_output=True).returncode != 0)
say("nor does their absence", subprocess.run(['curl', '-sS', '-m', '4', '--noproxy', '*', 'http://four.test/escape'], env=env, capture_output=True).returncode != 0)
def relay():
    l = socket.socket(); l.bind(('127.0.0.1', 3128)); l.listen(); threading.Thread(target=serve, args=(l,), daemon=True).start()
def serve(l):
    while True:
        c, _ = l.accept(); host = c.recv(1000).split()[1].decode().rsplit(':', 1)
        try: u = socket.create_connection((host[0], int(host[1])), 3); c.sendall(b'HTTP/1.0 200 OK\r\n\r\n')
        except OSError: c.close(); continue
        threading.Thread(target=lambda: [u.sendall(b) for b in iter(lambda: c.recv(4096), b'')], daemon=True).start()
        threading.Thread(target=lambda: [c.sendall(b) for b in iter(lambda: u.recv(4096), b'')], daemon=True).start()
relay()
say("a relay of the box's own reaches no more", subprocess.run(['curl', '-sS', '-m', '4', '-p', '-x', 'http://127.0.0.1:3128', 'http://11.22.33.44/escape'], capture_output=True).returncode != 0)
say("but what a door names", subprocess.run(['curl', '-sS', '-m', '4', '-p', '-x', 'http://127.0.0.1:3128', 'http://web.test/ok'], capture_output=True).stdout == b'GET /ok 0\n')
# ---- floods ----
wild = sum(code([b'%d' % i, b'wild', b'test'])[1] for i in range(1100))
say("names get addresses up to a cap (%d)" % wild, 1000 <= wild <= 1024)
say("and the first still works", tcp('web.test', 80))
print("end", flush=True)
END
chmod 644 "$T/attack.py"
for who in root as_user; do
        : >"$T/lab/dns.log"
        lab_anew
        box $who --net web.test:80 --net '*.wild.test:80' --read "$T/attack.py" -- python3 "$T/attack.py"
        grep -E '^(held|BROKEN) ' "$T/out" >"$T/lines"
        while read -r verdict name; do
                if [ "$verdict" = held ]; then pass "$who: $name"; else fail "$who: $name"; fi
        done <"$T/lines"
        is "$who: the attack came to its end" "$(tail -n 1 "$T/out")" end
        is "$who: no name but those of doors was asked outside" "$(lab_names | grep -v -e '^web\.test$' -e '\.wild\.test$')" ""
        is "$who: no packet left but to the server of the door and the name server" "$(lab_packets | grep -v -e '^tcp 11.22.33.44 80$' -e '^tcp 2a00:1111::44 80$' -e '^udp 11.22.33.53 53$')" ""
        is "$who: what is told has no byte that a terminal would obey" "$(LC_ALL=C tr -cd '\000-\010\013-\037\177' <"$T/err" | wc -c)" 0
        ok "$who: the refusals are told" test "$(json '[.net.destinations[] | select(.verdict == "deny")] | length')" -ge 40
        # As uid 0 inside: no more.
        box $who --root --net web.test:80 --net '*.wild.test:80' --read "$T/attack.py" -- python3 "$T/attack.py"
        is "$who: as uid 0 inside, nothing more" "$(grep -c '^BROKEN' "$T/out") $(tail -n 1 "$T/out")" "0 end"
done

# ---- hellos: every way to name another host, or none, or to look like no TLS, through a door that moves bytes ----
cat >"$T/hello.py" <<'END'
import socket, ssl, struct, sys, time
def say(name, ok): print("%s %s" % ("held" if ok else "BROKEN", name), flush=True)
def hello(name):
    i, o = ssl.MemoryBIO(), ssl.MemoryBIO()
    c = ssl.create_default_context().wrap_bio(i, o, server_hostname=name)
    try: c.do_handshake()
    except ssl.SSLWantReadError: pass
    return o.read()
good, evil = hello('web.test'), hello('six.test')
body = good[5:]
def records(data, size): return b''.join(b'\x16\x03\x01' + struct.pack('>H', len(data[k:k + size])) + data[k:k + size] for k in range(0, len(data), size))
def whole(message): return records(message[:1] + struct.pack('>I', len(message) - 4)[1:] + message[4:], 16384)
def extensions(message):  # where they begin: their length field
    at = 4 + 2 + 32; at += 1 + message[at]; at += 2 + struct.unpack('>H', message[at:at + 2])[0]; return at + 1 + message[at]
def add(message, ext):
    at = extensions(message); n = struct.unpack('>H', message[at:at + 2])[0]
    return whole(message[:at] + struct.pack('>H', n + len(ext)) + message[at + 2:] + ext)
def ext(kind, data): return struct.pack('>HH', kind, len(data)) + data
def sni(*names):
    l = b''.join(b'\0' + struct.pack('>H', len(n)) + n for n in names); return ext(0, struct.pack('>H', len(l)) + l)
def swap(message, old, new): return message.replace(old, new)
def sent(data, piece=1 << 20, port=443, wait=20, half=False):
    s = socket.create_connection(('web.test', port), 5); s.settimeout(wait); s.setsockopt(6, 1, 1)
    try:
        for k in range(0, len(data), piece): s.sendall(data[k:k + piece])
        if half: s.shutdown(socket.SHUT_WR)
        return s.recv(100)
    except OSError: return b''
say("a right hello is answered", sent(good) != b'')
say("in pieces of one byte", sent(good, 1) != b'')
say("in records of one byte", sent(records(body, 1)) != b'')
say("in records of seven bytes, in pieces of three", sent(records(body, 7), 3) != b'')
say("in capitals", sent(swap(good, b'web.test', b'WEB.Test')) != b'')
for name, data in {
    'another host': evil, 'another host, in records of one byte': records(evil[5:], 1), 'a dot at the end': add(swap(body, b'web.test', b'web.tesu'), b''),
    'two names': add(body, sni(b'six.test')), 'a list of two names': whole(body.replace(sni(b'web.test'), sni(b'web.test', b'six.test'))),
    'a NUL in the name': swap(good, b'web.test', b'web\0test'), 'a star': swap(good, b'web.test', b'*eb.test'), 'an address': swap(good, b'web.test', b'11.22.33'),
    'an empty name': whole(body.replace(sni(b'web.test'), sni(b''))), 'an encrypted hello beside it': add(body, ext(0xfe0d, b'\0' * 60)), 'an old encrypted name': add(body, ext(0xffce, b'\0' * 60)),
    'SSLv2': b'\x80\x2e\x01\x03\x01\0\x15\0\0\0\x10' + b'\0' * 40, 'an alert first': b'\x15\x03\x01\0\x02\x01\0' + good, 'a record without bytes first': b'\x16\x03\x01\0\0' + good,
    'PROXY before it': b'PROXY TCP4 1.2.3.4 5.6.7.8 1 443\r\n' + good, 'PROXY 2 before it': b'\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c' + b'\1' * 12 + good,
    'CONNECT before it': b'CONNECT six.test:443 HTTP/1.1\r\n\r\n' + evil, 'a clear request': b'GET /escape HTTP/1.1\r\nHost: web.test\r\n\r\n', 'HTTP/2 in the clear': b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a length that lies': good[:6] + b'\xff\xff\xff' + good[9:], 'bytes behind the hello in its record': records(body + evil[5:], 16384)[:5] + body + evil[5:]}.items():
    say("443: " + name, sent(data) == b'')
say("443: a hello that stops in its middle is not passed on", sent(good[:-1], wait=1) == b'' and sent(good[:100], half=True) == b'')
say("443: nothing goes before the hello is whole", sent(good[:50], wait=1) == b'')
say("443: one that never ends", sent(b'\x16\x03\x01\x10\0\x01\0\xf0\0' + b'\0' * 4092 + (b'\x16\x03\x01\x10\0' + b'\0' * 4096) * 20) == b'')
say("443: TLS 1.2 without a name", sent(whole(body.replace(sni(b'web.test'), b'').replace(struct.pack('>H', len(body) - extensions(body) - 2), struct.pack('>H', len(body) - extensions(body) - 2 - len(sni(b'web.test'))), 1))) == b'')
for name, data in {'another host': evil, 'an encrypted hello': add(body, ext(0xfe0d, b'\0' * 60)), 'two names': add(body, sni(b'six.test'))}.items():
    say("another port: " + name, sent(data, port=7) == b'')
say("another port: what is no TLS", sent(b'hello\n', port=7) == b'hello\n')
say("another port: a right hello", sent(good, port=7) == good[:100])
sent(evil, port=7003); sent(evil, 1, port=7003); sent(b'\x16\x03', port=7003, wait=1)
print("end", flush=True)
END
chmod 644 "$T/hello.py"
for who in root as_user; do
        : >"$T/lab/sink.log"
        box $who --net web.test:443 --net web.test:7 --net web.test:7003 --read "$T/hello.py" -- python3 "$T/hello.py"
        grep -E '^(held|BROKEN) ' "$T/out" >"$T/lines"
        while read -r verdict name; do
                if [ "$verdict" = held ]; then pass "$who: hello: $name"; else fail "$who: hello: $name"; fi
        done <"$T/lines"
        is "$who: the hellos came to their end" "$(tail -n 1 "$T/out")$(grep -c Traceback "$T/err")" end0
        told() { [ "$(wc -l <"$T/lab/sink.log")" -ge 3 ]; }
        soon told
        is "$who: of a refused hello the server got not one byte" "$(grep -c -v '^0 ' "$T/lab/sink.log") $(wc -l <"$T/lab/sink.log")" "0 3"
        is "$who: what is told has no byte that a terminal would obey" "$(LC_ALL=C tr -cd '\000-\010\013-\037\177' <"$T/err" | wc -c)" 0
done

# ---- budgets: many at once ----
cat >"$T/budget.py" <<'END'
import socket, threading, time
def say(name, ok): print("%s %s" % ("held" if ok else "BROKEN", name), flush=True)
# 24 connections at once through two doors: together no byte more than the budget comes in, not one for each.
got, lock = [0], threading.Lock()
def drain(port):
    try:
        s = socket.create_connection(('web.test', port), 5); s.settimeout(5)
        if port == 80: s.sendall(b"GET /bytes/9000000 HTTP/1.1\r\nHost: web.test\r\n\r\n")
        while (b := s.recv(65536)):
            with lock: got[0] += len(b)
    except OSError: pass
all = [threading.Thread(target=drain, args=(p,)) for p in (7004, 80) * 12]
[t.start() for t in all]; [t.join() for t in all]
say("24 connections have one budget for what comes in: %d" % got[0], 0 < got[0] <= 2097152 + 24 * 512) # of refusals each tells why
END
for who in root as_user; do
        box $who --net web.test:7004 --net 'http://web.test/** GET' --ingress 2M --read "$T" -- python3 "$T/budget.py"
        has "$who: $(cat "$T/out")" "$(cat "$T/out")" "held 24 connections"
        is "$who: and so it is counted" "$(json '[.net.destinations[] | select(.verdict == "allow") | .received] | add <= 2097152')" true
done

# ---- a box that does all it can to keep its broker busy: the limit on time fires, and others in the box are served ----
cat >"$T/busy.py" <<'END'
import os, socket, subprocess, threading, time
def forever(f):
    def loop():
        while True:
            try: f()
            except OSError: time.sleep(0.001)
    threading.Thread(target=loop, daemon=True).start()
held = []
def loris():  # a head that never ends, a byte at a time
    if len(held) < 400:
        s = socket.create_connection(('web.test', 80), 3); s.sendall(b'GET / HTTP/1.1\r\nHost: web.test\r\nX: '); held.append(s)
    for s in held: s.send(b'x')
def percent():
    s = socket.create_connection(('web.test', 80), 3); s.sendall(b'POST /p HTTP/1.1\r\nHost: web.test\r\nContent-Length: 50000000\r\n\r\n')
    while True: s.send(b'%' * 65536)
def many():
    s = socket.create_connection(('web.test', 80), 3)
    while True: s.send(b'GET /no HTTP/1.1\r\nHost: web.test\r\n\r\n' * 500); s.setblocking(False); s.recv(1 << 20); s.setblocking(True)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def names():
    for i in range(1000): u.sendto(b'\0\1\1\0\0\1\0\0\0\0\0\0\x08%08x\x05exfil\x04test\0\0\1\0\1' % (i & 0xffffffff), ('198.19.255.1', 53))
def ports():
    for p in range(1, 500):
        s = socket.socket(); s.setblocking(False); s.connect_ex(('198.18.0.1', p)); s.close()
for f in (loris, percent, many, names, ports, ports): forever(f)
time.sleep(2)
began = time.time()
r = subprocess.run(['curl', '-sS', '-m', '20', 'http://web.test/served'], capture_output=True).stdout
print('served' if r == b'GET /served 0\n' else 'BROKEN %r' % r, flush=True)
time.sleep(60)
END
chmod 644 "$T/busy.py"
for who in root as_user; do
        began=$(date +%s)
        box $who --net 'http://web.test/** GET' --net 'http://web.test/p POST' --limit 'time 12s' --limit 'files 1024' --limit 'egress 16G' --limit 'effects 1000000' --limit 'rate 1000000/h' \
                --limit 'procs 64' --read "$T/busy.py" -- python3 "$T/busy.py"
        took=$(($(date +%s) - began))
        is "$who: a busy broker still serves" "$(cat "$T/out")" served
        is "$who: the limit on time ends the box" "$status $(json .limit)" "124 time"
        ok "$who: and in time: $took s" test $took -ge 12 -a $took -le 18
        is "$who: the broker told its last" "$(json .net.broker)" "done"
done

# ---- the broker, from outside ----
"$CORDON" run --net web.test:80 --net 'https://web.test/x/**' -- sleep 60 >/dev/null 2>&1 </dev/null 9>&- &
run=$!
broker=
for _ in $(seq 80); do
        broker=$(ps -eo pid=,ppid=,comm= | awk -v up=$run '$2 == up && $3 == "cordon-egress" { print $1 }')
        [ -z "$broker" ] || [ "$(awk '$1 == "Seccomp:" { print $2 }' "/proc/$broker/status" 2>/dev/null)" != 2 ] || break
        sleep 0.25
done
field() { awk -v f="$1:" '$1 == f { print $2 }' "/proc/$broker/status" 2>/dev/null; }
is "the broker has a system-call filter" "$(field Seccomp)" 2
is "no new privileges" "$(field NoNewPrivs)" 1
is "no capability" "$(field CapEff)$(field CapPrm)$(field CapInh)" "000000000000000000000000000000000000000000000000"
[ "$CORDON_LAB" != root ] || ok "and, as root's, an id that owns nothing" test "$(field Uid)" -ge 1900000000
is "its descriptors are sockets, epoll and the void" "$(for f in "/proc/$broker"/fd/*; do readlink "$f"; done | grep -v -e '^socket:' -e '^anon_inode:\[eventpoll\]$' -e '^/dev/null$' -e '^pipe:')" ""
is "its directory is /" "$(readlink "/proc/$broker/cwd")" /
if [ "$CORDON_LAB" = root ]; then
        as_user sh -c "cat /proc/$broker/maps" >/dev/null 2>&1
        ok "others cannot read its memory" test $? -ne 0
fi
kill $run
wait $run 2>/dev/null
done_testing
