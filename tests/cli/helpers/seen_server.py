#!/usr/bin/env python3
"""A web server that writes down every request before it answers: seen_server.py ADDRESS PORT FILE [DELAY]
One line a request: METHOD PATH TOKEN. DELAY: seconds until the answer."""
import os, socket, sys, threading, time
address, port, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
delay = float(sys.argv[4]) if len(sys.argv) > 4 else 0
log = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
def one(c):
    data = b''
    try:
        while True:
            while b'\r\n\r\n' not in data:
                more = c.recv(65536)
                if not more:
                    return
                if not data:  # from the first byte on the effect has happened
                    os.write(log, more.split(b' HTTP/')[0].replace(b'\n', b' ') + b'\n')
                data += more
            head, data = data.split(b'\r\n\r\n', 1)
            size = 0
            for line in head.split(b'\r\n')[1:]:
                if line.lower().startswith(b'content-length:'):
                    size = int(line.split(b':')[1])
            while len(data) < size:
                more = c.recv(65536)
                if not more:
                    return
                data += more
            data = data[size:]
            time.sleep(delay)
            c.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n')
    except OSError:
        pass
    finally:
        c.close()
s = socket.socket(socket.AF_INET)
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind((address, port))
s.listen(256)
print('ready', flush=True)
while True:
    threading.Thread(target=one, args=(s.accept()[0],), daemon=True).start()
