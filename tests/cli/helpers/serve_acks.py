#!/usr/bin/env python3
# serve_acks.py SOCKET TOKEN CLIENTS TAG: clients of `cordon serve --http` that run one command after the other until the server is gone,
# or until standard input ends. Prints the run of each answer as soon as it has come: "RUN STATUS".
import http.client, json, os, socket, sys, threading

path, token, clients, tag = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
lock, stop = threading.Lock(), threading.Event()


class Connection(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(path)


def client():
    body = json.dumps({"argv": ["sh", "-c", "echo x; exit 3", tag]})
    head = {"Authorization": "Bearer " + token, "Content-Type": "application/json"}
    try:
        c = Connection("localhost")
        while not stop.is_set():
            c.request("POST", "/v1/runs", body, head)
            r = c.getresponse()
            answer = json.loads(r.read())
            if r.status == 200 and answer["state"] == "ended":
                with lock:
                    os.write(1, f"{answer.get('run', '-')} {answer['status']}\n".encode())
    except (OSError, http.client.HTTPException, ValueError):
        pass


threads = [threading.Thread(target=client, daemon=True) for _ in range(clients)]
for t in threads:
    t.start()
while any(t.is_alive() for t in threads) and not stop.is_set():
    if not sys.stdin.buffer.read1(1):
        stop.set()
for t in threads:
    t.join(70)
