# ws_client.py URL MODE [URL MODE]...: WebSockets of one program (RFC 6455), each until it is cut or, with a mode that ends in a
# number, for so many seconds. talk: a frame and its echo every 0.2 s; idle: one, then silence; listen: the server talks.
# Prints, for each: how many frames came, how it ended and when, and what a second try gets.
import base64, os, socket, ssl, struct, sys, threading, time
from urllib.parse import urlsplit


def handshake(url):
    u = urlsplit(url)
    tls = u.scheme == "wss"
    s = socket.create_connection((u.hostname, u.port or (443 if tls else 80)), 20)
    if tls:
        s = ssl.create_default_context().wrap_socket(s, server_hostname=u.hostname, suppress_ragged_eofs=False)
    key = base64.b64encode(os.urandom(16)).decode()
    s.sendall((f"GET {u.path} HTTP/1.1\r\nHost: {u.netloc}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
               f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        got = s.recv(1)
        if not got:
            break
        head += got
    return s, head.split(b"\r\n")[0].decode()


def send(s, text):
    mask = os.urandom(4)
    s.sendall(struct.pack("BB", 0x81, 0x80 | len(text)) + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(text)))


def receive(s):
    def exactly(n):
        data = b""
        while len(data) < n:
            got = s.recv(n - len(data))
            if not got:
                raise EOFError
            data += got
        return data
    kind, n = exactly(2)
    return exactly(n & 0x7f)


def one(url, mode, say):
    name, _, seconds = mode.partition(":")
    frames, began = 0, time.time()
    try:
        s, status = handshake(url)
        if " 101 " not in status + " ":
            say(f"{url} refused {status}")
            return
        s.settimeout(150)
        while not seconds or time.time() - began < float(seconds):
            if name != "listen" and (name == "talk" or frames == 0):
                send(s, b"frame %d" % frames)
            got = receive(s)
            if name == "talk" and got != b"frame %d" % frames:
                say(f"{url} wrong echo {got!r}")
                return
            frames += 1
            if name == "talk":
                time.sleep(0.2)
        end = "ended"
    except EOFError:
        end = "cut"
    except (ConnectionError, ssl.SSLError):
        end = "cut"
    except TimeoutError:
        end = "timeout"
    when = time.time()
    try:
        again = "-" if seconds else (handshake(url)[1].split() + ["", "end"])[1]
    except OSError as e:
        again = type(e).__name__
    say(f"{url} end={end} frames={frames} at={when:.1f} again={again}")


lock = threading.Lock()


def say(text):
    with lock:
        print(text, flush=True)


all = [threading.Thread(target=one, args=(sys.argv[i], sys.argv[i + 1], say)) for i in range(1, len(sys.argv), 2)]
for t in all:
    t.start()
for t in all:
    t.join()
