"""serve_soak.py SOCKET TOKEN PREFIX - sends runs with keys until its input ends, through restarts, a full disk and kill -9; each appends its key to a file of
the tenant. A line for each that was acknowledged: KEY ID. A request that failed is sent again with its key."""
import http.client, json, select, socket, sys, time

path, token, prefix = sys.argv[1:4]

class Link(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(30)
        self.sock.connect(path)

n = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    n += 1
    key = f"{prefix}-{n}"
    body = json.dumps({"argv": ["sh", "-c", f"echo {key} >>{prefix}.log; echo {key}"], "policy": "w", "wait": False, "labels": {"k": prefix}})
    while True:
        try:
            c = Link("localhost")
            c.request("POST", "/v1/runs", body, {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Idempotency-Key": key})
            a = c.getresponse()
            text = a.read()
            if a.status in (200, 202):
                print(key, json.loads(text)["id"], flush=True)
                break
            if a.status not in (429, 503, 507):
                print("odd", key, a.status, text[:200], flush=True)
                break
        except (OSError, http.client.HTTPException, ValueError):
            pass
        if select.select([sys.stdin], [], [], 0.05)[0]:
            break
