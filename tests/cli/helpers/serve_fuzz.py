"""Hostile clients of `cordon serve --http`: serve_fuzz.py SOCKET TOKEN_A TOKEN_B CALLS.
Prints one line for each check, "ok ..." or "not ok ...". Everything of tenant A that B learns of is a crossing."""
import json, random, socket, sys

path, token_a, token_b, calls = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
rand = random.Random(4711)
MARK = "belongs-to-a-only"


def say(good, what):
    print(("ok " if good else "not ok ") + what, flush=True)


class Link:
    """One connection that is kept as long as the server keeps it."""

    def __init__(self):
        self.s = None

    def raw(self, data, wait=True):
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        s.settimeout(30)
        try:
            s.sendall(data)
        except OSError:
            pass
        got = b""
        while wait:
            try:
                more = s.recv(65536)
            except OSError:
                break
            if not more:
                break
            got += more
        s.close()
        return got

    def call(self, method, target, token, body=None, headers=()):
        if not self.s:
            self.s = socket.socket(socket.AF_UNIX)
            self.s.connect(path)
            self.s.settimeout(30)
            self.f = self.s.makefile("rb")
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        head = [f"{method} {target} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", *headers]
        if body is not None:
            head += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        try:
            self.s.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + data)
            status = int(self.f.readline().split()[1])
            length, close = None, False
            while (line := self.f.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                close |= name.lower() == b"connection"
            text = self.f.read(length) if length is not None else self.f.read()
        except (OSError, IndexError, ValueError):
            status, text, close = 0, b"", True
        if close or length is None:
            self.s.close()
            self.s = None
        return status, text


link = Link()

# What A has: a run with the mark in its output and name, a session, a file, a change, a record, a policy.
status, text = link.call("POST", "/v1/runs", token_a, {"argv": ["echo", MARK]})
run = json.loads(text)
say(status == 200 and run["stdout"].strip() == MARK, "A has a run")
status, text = link.call("POST", "/v1/sessions", token_a, {})
session = json.loads(text)["id"]
link.call("PUT", "/v1/files/mark-a.txt", token_a, MARK.encode())
status, text = link.call("POST", "/v1/runs", token_a, {"argv": ["sh", "-c", "echo %s >new-a" % MARK], "policy": "edit"})
change = json.loads(text).get("changes", "none")
status, text = link.call("GET", "/v1/ledger?last=5", token_a)
records = [r["id"] for r in json.loads(text)["records"]]
say(status == 200 and records, "A has records")
secrets = [run["id"], session, change, run["run"], MARK, "only-a", "mark-a.txt", *records]

# Requests that two programs could read in two ways, or that are malformed: an error, and the next client is served.
bad = [
    b"GET / HTTP/1.1\r\n\r\n", b"\r\n\r\n", b"GET\r\n\r\n", b"GET /v1/health HTTP/1.1\nHost: localhost\n\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nHost: x\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n X: folded\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX : y\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nX: \x00\r\n\r\n",
    b"GET http://evil/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"GET /v1/../health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    b"GET /v1/health HTTP/9.9\r\nHost: localhost\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"GET /" + b"a" * 40000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 400 + b"\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nExpect: 200-ok\r\n\r\n",
]
wrong = [b for b in bad if not 400 <= int((link.raw(b) or b"HTTP/1.1 0").split()[1]) < 600]
say(not wrong, "malformed requests are refused: %d of %d %r" % (len(bad) - len(wrong), len(bad), wrong[:1]))
two = link.raw(b"GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
say(two.count(b"HTTP/1.1 200") == 2, "pipelined requests are answered in order")
deep = b'{"argv":' + b"[" * 100000 + b"]" * 100000 + b"}"
say(link.call("POST", "/v1/runs", token_a, deep)[0] == 400, "deep JSON is refused")

# Clients that say nothing, half of something, or never read.
idle = []
for i in range(60):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    if i % 3:
        s.sendall(b"POST /v1/runs HTTP/1.1\r\nHost: loc")
    idle.append(s)
say(link.call("GET", "/v1/health", token_a)[0] == 200, "silent clients do not stop it")
for i in range(20):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.sendall(b"GET /v1/policies/default HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token_a.encode() + b"\r\n\r\n" * 1)
    idle.append(s)
say(link.call("GET", "/v1/health", token_a)[0] == 200, "nor clients that do not read")
for s in idle:
    s.close()

# Streams that A leaves open take half of the places at most, and those who say nothing none that others need.
status, text = link.call("POST", "/v1/runs", token_a, {"argv": ["sleep", "8562"], "wait": False})
waits = json.loads(text)["id"]
follow = f"GET /v1/runs/{waits}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token_a}\r\n\r\n".encode()
streams, refused, open_ = [], 0, []
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.settimeout(30)
    s.sendall(follow)
    got = s.recv(32)
    refused += b" 429 " in got
    (streams if b" 200 " in got else open_).append(s)
say(len(streams) == 128 and refused == 300 - 128, "streams of one tenant take half of the places: %d open, %d refused" % (len(streams), refused))
for i in range(300):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)  # waits for a place in the queue
    open_.append(s)
say(Link().call("GET", "/v1/runs", token_b)[0] == 200, "another tenant is served beside them, and beside 300 silent clients")
for s in streams + open_:
    s.close()
link.s = None
say(link.call("DELETE", "/v1/runs/" + waits, token_a)[0] == 202, "and the tenant itself can still end its run")

# A body that is not what a session takes starts none.
odd = [b"[]", b"5", b"null", b'"default"', b'{"polcy":"default"}', b'{"policy":5}', b'{"policy":"default","x":1}', b"[" * 100000]
started = [b[:40] for b in odd if link.call("POST", "/v1/sessions", token_a, b)[0] not in (400, 413, 422)]
say(not started, "a body that is misspelled starts no session %r" % started)
long = [m for m in ("GET", "PUT", "DELETE") if link.call(m, "/v1/files/" + "a" * 300, token_a, b"x" if m == "PUT" else None)[0] != 400]
say(not long, "a name that no file can have is an error of the client %r" % long)

# B, or nobody, with everything that it may have learned of A.
names = [run["id"], session, change, run["run"], "default", "only-a", "mark-a.txt", "../a", "a", "..", "%2e%2e", "x", *records[:2]]
paths = ["/v1/runs", "/v1/runs/{}", "/v1/runs/{}/events", "/v1/sessions", "/v1/sessions/{}", "/v1/files", "/v1/files/{}",
         "/v1/files/../../a/files/{}", "/v1/files/%2e%2e/%2e%2e/a/files/{}", "/v1/changes", "/v1/changes/{}", "/v1/changes/{}/apply",
         "/v1/changes/{}/undo", "/v1/policies", "/v1/policies/{}", "/v1/policies/{}?share=9", "/v1/policies/{}/promote", "/v1/policies/{}/rollback", "/v1/images",
         "/v1/images/{}", "/v1/ledger?run={}", "/v1/ledger?target={}", "/v1/ledger?last=9",
         "/v1/ledger/{}/proof", "/v1/ledger/{}/trace", "/v1/metrics", "/v1/tenants", "/v1/pool", "/v1/audits", "/v1/token", "/v1/vault", "/v1/vault/{}", "/v1/health"]
# Nine of ten calls have a method that their path knows, and a name in its plain form: those reach the tenant's resources.
described = json.loads(link.call("GET", "/v1/openapi.json", token_a)[1])["paths"]


def methods(target):
    parts = target.split("?")[0].split("/")
    for known, rows in described.items():
        own = known.split("/")
        if len(own) == len(parts) and all(a == b or a[:1] == "{" for a, b in zip(own, parts)):
            return [m.upper() for m in rows]
    return ["GET"]


owned = ("/v1/runs/" + run["id"], "/v1/sessions/" + session, "/v1/changes/" + change)
plain = [n for n in names if "." not in n and "/" not in n and "%" not in n] + ["mark-a.txt"]
tokens = [token_b] * 30 + [token_a[:-1], token_b[:20] + token_a[20:], "x", ""]
crossed, errors, done, by_status, reached = [], [], 0, {}, 0
while done < calls and by_status.get(429, 0) <= calls:
    name, target = rand.choice(names if rand.random() < 0.1 else plain), rand.choice(paths)
    token = rand.choice(tokens)
    method = rand.choice(["GET", "POST", "PUT", "DELETE"] if rand.random() < 0.1 else methods(target))
    target = target.replace("{}", name)
    if rand.random() < 0.1:
        cut = rand.randrange(len(target))
        target = target[:cut] + rand.choice(["%00", "/../", "//", "?tenant=a", "%2f", "\\", "a", ";a"]) + target[cut:]
    body = None
    if method in ("POST", "PUT"):
        body = rand.choice([{"policy": name}, {"session": name, "argv": ["true"]}, {"policy": name, "tenant": "a", "argv": ["echo"]},
                            {"argv": ["true"], "lines": "read {work}/../../a/files\n"}, {"argv": ["true"], "lines": "use ../a/policies/only-a\n"}])
        if target == "/v1/sessions" or (target == "/v1/runs" and body.get("policy") == "default"):
            continue
    extra = rand.choice([[], [], ["X-Tenant: a"], ["X-Forwarded-User: a"], ["Last-Event-ID: 1"], ["Idempotency-Key: k"]])
    status, text = link.call(method, target, token, body, extra)
    by_status[status] = by_status.get(status, 0) + 1
    done += status != 429  # turned away at the door: nothing was tried
    reached += token == token_b and status in (200, 201, 202, 403, 404, 409, 422)
    if method == "PUT" and status in (200, 201):  # B may name its own files as it likes: they are not A's
        link.call("DELETE", target.split("?")[0], token)
    if status >= 500 or status == 0:
        errors.append((method, target, body, status, text[:200]))
    # nothing of A's does what another asks of it, even if the answer is empty
    if status in (200, 201, 202, 204) and target.startswith(owned):
        crossed.append((method, target, token == token_b, status))
    shown = text.decode("utf-8", "replace")
    for secret in secrets:
        # what the request itself named may come back in an error, but never with success
        if secret in shown and (secret not in target or status < 300):
            crossed.append((method, target, token == token_b, status, secret))
say(not crossed and done == calls, "%d calls, %d of them judged by a resource, %d crossings %r" % (done, reached, len(crossed), crossed[:2]))
say(reached > done // 2, "answers by status: %s" % " ".join("%d:%d" % x for x in sorted(by_status.items())))
say(not errors, "%d calls without an answer or with an error of the server %r" % (len(errors), errors[:2]))

status, text = link.call("GET", "/v1/files/mark-a.txt", token_a)
say(status == 200 and text.decode() == MARK, "A's file is as it was")
status, text = link.call("GET", "/v1/runs/" + run["id"], token_a)
say(status == 200, "A's run is still there")
status, text = link.call("GET", "/v1/sessions/" + session, token_a)
say(status == 200 and json.loads(text)["state"] in ("up", "starting"), "A's session is still up")
