"""The client of mcp_client.py over HTTP: each request is a POST of its own."""
import http.client
import json
import os
import re
import subprocess
import tempfile
import urllib.parse

from mcp_client import Client


class HttpClient(Client):
    """`command`: a server that is started with --http, or `url` and `token` of one that runs."""

    def __init__(self, command=None, url=None, token=None, modern=True, elicits=False, env=None):
        self.modern, self.elicits, self.last, self.session = modern, elicits, 0, None
        self.notes, self.asked, self.lines, self.open = [], [], [], {}
        self.process = None
        if command:
            self.file = os.path.join(tempfile.mkdtemp(), "token")
            self.process = subprocess.Popen([*command, "--http", "127.0.0.1:0", "--token-file", self.file], env=env,
                                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            said = self.process.stderr.readline()
            url = re.search(r"http://\S+/mcp", said).group()
            with open(self.file, encoding="ascii") as f:
                token = f.read().strip()
        self.url, self.token = url, token
        if not modern:
            self.request("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"},
                                        "capabilities": {"elicitation": {}} if elicits else {}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def headers(self, message=None):
        head = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream"}
        if self.session:
            head["Mcp-Session-Id"] = self.session
        if self.modern:
            head["MCP-Protocol-Version"] = "2026-07-28"
            if isinstance(message, dict) and "method" in message:
                head["Mcp-Method"] = message["method"]
                name = message.get("params", {}).get("name")
                if name:
                    head["Mcp-Name"] = name
        return head

    def http(self, method, body=None, headers=None, path=None):
        """The connection, whose answer has begun."""
        at = urllib.parse.urlsplit(self.url)
        c = http.client.HTTPConnection(at.hostname, at.port, timeout=60)
        c.request(method, path or at.path, body=body, headers=headers or {})
        c.answer = c.getresponse
        return c

    def post(self, message, headers=None):
        raw = message if isinstance(message, bytes) else json.dumps(message).encode()
        return self.http("POST", raw, self.headers(message) if headers is None else headers)

    def send(self, message):
        return self.send_raw(json.dumps(message).encode(), self.headers(message))

    def send_raw(self, data, headers=None):
        """The status; an answer is kept for read()."""
        try:
            headers = headers or self.headers(json.loads(data))
        except ValueError:
            headers = self.headers()
        r = self.post(data.strip(), headers).answer()
        text = r.read().decode()
        if text:
            self.lines.append(text)
        return r.status

    def read(self):
        return json.loads(self.lines[-1])

    def begin(self, method, params=None, token=None):
        sent = []
        self.send, keep = sent.append, self.send
        try:
            number = super().begin(method, params, token)
        finally:
            self.send = keep
        self.open[number] = self.post(sent[0])
        return number

    def messages(self, answer):
        """Of an answer, JSON or events."""
        if answer.getheader("Content-Type") != "text/event-stream":
            yield json.loads(answer.read())
            return
        for line in answer:
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    def wait(self, number):
        answer = self.open.pop(number).answer()
        self.session = answer.getheader("Mcp-Session-Id") or self.session
        self.status = answer.status
        for message in self.messages(answer):
            self.lines.append(json.dumps(message))
            if "method" in message and "id" in message:
                self.asked.append(message)
                if self.answer:
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.answer})
            elif "method" in message:
                self.notes.append(message)
            elif message.get("id") == number or "error" in message:
                return message
        raise EOFError("the stream has ended")

    def end(self):
        self.process.terminate()
        code = self.process.wait(60)
        self.process.stderr.close()
        os.remove(self.file)
        os.rmdir(os.path.dirname(self.file))
        return code
