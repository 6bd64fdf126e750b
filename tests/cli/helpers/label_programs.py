# label_programs.py CORDON COUNT - noninterference in real boxes: random programs, each run twice with other secret bytes. Every
# sink that does not accept the secret's tag must get equal bytes both times. Prints one line: programs, requests that reached a
# sink, sinks that saw the secret (and may), and sinks that must not have.
import json, os, random, subprocess, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CLIENT = r'''
import hashlib, sys, urllib.request
base, memory = sys.argv[1], b""
def mix(*parts):
    return hashlib.sha256(b"|".join(parts)).hexdigest().encode()
def request(path, body=None):
    try:
        with urllib.request.urlopen(urllib.request.Request(base + path, data=body), timeout=30) as r:
            return r.read()
    except urllib.error.HTTPError as e:
        return b"denied %d" % e.code
skip = False
for word in sys.argv[2:]:
    if skip:
        skip = False
        continue
    op, arg = word[0], word[1:]
    if op == "r":
        memory = mix(memory, request("/source/" + arg))
    elif op == "s":
        memory = mix(memory, request("/sink/" + arg, memory))
    elif op == "g":
        memory = mix(memory, request("/sink/" + arg + "/" + memory.decode()))
    elif op == "i":
        skip = int(memory[-1:] or b"0", 16) & 1
    elif op == "f":
        memory = mix(memory, open(arg, "rb").read())
print(len(memory))
'''

class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def answer(self, body):
        kind, which = self.path.split("/")[1:3]
        text = b"ok"
        if kind == "source":
            text = self.server.sources[which].encode()
        else:
            self.server.journal.setdefault(which, []).append([self.command, self.path, body.decode()])
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def do_GET(self):
        self.answer(b"")
    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))
    def log_message(self, *_):
        pass

def labels(chance, r):
    return [t for t in ("private:a", "private:b") if r.random() < chance]

def program(r):
    sources = {str(i): labels(0.5, r) for i in range(3)}
    sinks = {str(i): labels(0.4, r) for i in range(4)}
    steps = []
    for _ in range(r.randint(6, 12)):
        op = r.choice("rrssgi")
        steps.append(op + (str(r.randrange(3)) if op == "r" else "" if op == "i" else str(r.randrange(4))))
    return sources, sinks, steps, r.random() < 0.3

def policy(where, sources, sinks, filed):
    lines = ["use base/python3", "local loopback", "read " + where + "/client.py"]
    if filed:
        lines.append("read " + where + "/secret label private:a")
    for i, l in sources.items():
        lines.append("net %s/source/%s GET%s" % (base, i, " label " + " ".join(l) if l else ""))
    for i, l in sinks.items():
        lines.append("net %s/sink/%s/** GET%s" % (base, i, " accepts " + " ".join(l) if l else ""))
        lines.append("net %s/sink/%s POST reach self%s" % (base, i, " accepts " + " ".join(l) if l else ""))
    return "\n".join(lines) + "\n"

def execute(cordon, where, steps, filed):
    server.journal = {}
    words = (["f" + where + "/secret"] if filed else []) + steps
    done = subprocess.run([cordon, "run", "-q", "--ledger", "off", "--time", "60s", "-p", where + "/policy", "--", "python3", where + "/client.py", base] + words,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    if done.returncode != 0:
        sys.exit("a program failed: %s%s" % (done.stdout.decode(), done.stderr.decode()))
    return server.journal

cordon, count, where = sys.argv[1], int(sys.argv[2]), os.environ["T"]
server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
base = "http://127.0.0.1:%d" % server.server_port
threading.Thread(target=server.serve_forever, daemon=True).start()
open(where + "/client.py", "w").write(CLIENT)
arrived = seen = wrong = 0
for n in range(count):
    r = random.Random(n)
    sources, sinks, steps, filed = program(r)
    open(where + "/policy", "w").write(policy(where, sources, sinks, filed))
    journals = []
    for turn in "12":
        server.sources = {i: "source %s %s" % (i, turn if "private:a" in l else "") for i, l in sources.items()}
        open(where + "/secret", "w").write("secret " + turn)
        journals.append(execute(cordon, where, steps, filed))
    for i, l in sinks.items():
        one, two = (json.dumps(j.get(i, [])) for j in journals)
        arrived += len(journals[0].get(i, []))
        if one != two:
            seen += "private:a" in l
            wrong += "private:a" not in l
print("programs %d arrived %s seen %s wrong %d" % (count, arrived > count / 4, seen > 0, wrong))
