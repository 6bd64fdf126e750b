"""Test only: an HTTP endpoint in front of a server that speaks lines on its standard streams, for the official conformance
suite, which knows no other transport. http_bridge.py PORTFILE COMMAND..."""
import http.server
import json
import queue
import subprocess
import sys
import threading
import uuid

PORTFILE, COMMAND = sys.argv[1], sys.argv[2:]
VERSION = "io.modelcontextprotocol/protocolVersion"
BAD = {-32700, -32600, -32602, -32020, -32021, -32022}


class Server:
    def __init__(self):
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock, self.waiting = threading.Lock(), {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            token = message.get("params", {}).get("progressToken")
            key = json.dumps(message["id"]) if "id" in message else None
            with self.lock:
                waits = [q for k, (q, t) in self.waiting.items() if k == key or (token is not None and t == token)]
            for q in waits:
                q.put(message)

    def send(self, body):
        with self.lock:
            self.process.stdin.write(json.dumps(body).encode() + b"\n")
            self.process.stdin.flush()

    def ask(self, body):
        """The messages about a request, the response last."""
        q, key = queue.Queue(), json.dumps(body["id"])
        token = (body.get("params") or {}).get("_meta", {}).get("progressToken")
        with self.lock:
            self.waiting[key] = q, token
        self.send(body)
        while True:
            message = q.get(timeout=60)
            yield message
            if "method" not in message:
                with self.lock:
                    self.waiting.pop(key, None)
                return


shared, sessions = Server(), {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", kind="application/json", **headers):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def error(self, status, number, code, message):
        self.reply(status, json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}).encode())

    def is_local(self):
        names = ("localhost", "127.0.0.1", "[::1]")
        host = self.headers.get("Host", "").rsplit(":", 1)[0]
        origin = self.headers.get("Origin")
        return host in names and (not origin or origin.split("//")[-1].rsplit(":", 1)[0] in names)

    def mismatch(self, body):
        """A header that the body contradicts, of 2026-07-28."""
        params = body.get("params") or {}
        wanted = {"MCP-Protocol-Version": params.get("_meta", {}).get(VERSION), "Mcp-Method": body.get("method")}
        if body.get("method") == "tools/call":
            wanted["Mcp-Name"] = params.get("name")
        return [n for n, v in wanted.items() if self.headers.get(n) != v]

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_local():
            return self.error(403, None, -32600, "this host or origin is not local")
        try:
            body = json.loads(raw)
        except ValueError:
            return self.error(400, None, -32700, "not JSON")
        modern = VERSION in ((body.get("params") or {}).get("_meta") or {}) or \
            (self.headers.get("MCP-Protocol-Version", "") >= "2026" and body.get("method") != "initialize")
        headers = {}
        if modern:
            server, wrong = shared, self.mismatch(body)
            if wrong and VERSION in ((body.get("params") or {}).get("_meta") or {}):
                return self.error(400, body.get("id"), -32020, "headers and body differ: " + " ".join(wrong))
        elif body.get("method") == "initialize":
            name = str(uuid.uuid4())
            server = sessions[name] = Server()
            headers = {"Mcp_Session_Id": name}
        else:
            server = sessions.get(self.headers.get("Mcp-Session-Id"), shared)
        if "id" not in body or "method" not in body:
            server.send(body)
            return self.reply(202)
        messages = list(server.ask(body))
        code = messages[-1].get("error", {}).get("code")
        status = 200 if not modern or code is None else 404 if code == -32601 else 400 if code in BAD else 200
        if len(messages) > 1:
            events = "".join(f"event: message\ndata: {json.dumps(m)}\n\n" for m in messages)
            return self.reply(status, events.encode(), "text/event-stream", **headers)
        return self.reply(status, json.dumps(messages[-1]).encode(), **headers)

    def do_GET(self):
        self.reply(405)

    do_DELETE = do_GET


httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(PORTFILE, "w", encoding="ascii") as f:
    f.write(str(httpd.server_address[1]))
httpd.serve_forever()
