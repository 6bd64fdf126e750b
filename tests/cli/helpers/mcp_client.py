"""A client of the Model Context Protocol, for tests: one server over its standard streams or a Unix socket."""
import json
import select
import socket
import subprocess
import time

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def connect(path):
    """The name of a socket is there before somebody listens at it."""
    for _ in range(400):
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.connect(path)
            return sock
        except (ConnectionRefusedError, FileNotFoundError):
            sock.close()
            time.sleep(0.05)
    raise TimeoutError(path)


class Client:
    """`modern`: the era of its requests; `elicits`: it declares forms."""

    def __init__(self, command=None, path=None, modern=True, elicits=False, env=None):
        self.modern, self.elicits, self.last = modern, elicits, 0
        self.notes, self.asked, self.lines = [], [], []
        if path:
            self.sock = connect(path)
            self.into = self.sock.makefile("wb", buffering=0)
            self.out = self.sock.makefile("rb")
        else:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
            self.into, self.out = self.process.stdin, self.process.stdout
        if not modern:
            self.request("initialize", {"protocolVersion": "2025-11-25", "clientInfo": {"name": "t", "version": "1"},
                                        "capabilities": {"elicitation": {}} if elicits else {}})
            self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.send_raw(json.dumps(message).encode() + b"\n")

    def send_raw(self, data):
        self.into.write(data)
        self.into.flush()

    def begin(self, method, params=None, token=None):
        params = dict(params or {})
        meta = {}
        if self.modern:
            meta = {VERSION: "2026-07-28", CAPABILITIES: {"elicitation": {}} if self.elicits else {},
                    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"}}
        if token is not None:
            meta["progressToken"] = token
        if meta:
            params["_meta"] = meta
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def read(self):
        """The next message; None at the end of the stream."""
        line = self.out.readline()
        self.lines.append(line.decode())
        return json.loads(line) if line else None

    def wait(self, number):
        while True:
            message = self.read()
            if message is None:
                raise EOFError("the server has ended")
            if "method" in message and "id" in message:
                self.asked.append(message)
                if self.answer:
                    self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.answer})
            elif "method" in message:
                self.notes.append(message)
            elif message.get("id") == number:
                return message

    answer = None  # to a request of the server

    def request(self, method, params=None, token=None):
        return self.wait(self.begin(method, params, token))

    def call(self, name, token=None, **arguments):
        """The result of a tool."""
        message = self.request("tools/call", {"name": name, "arguments": arguments}, token)
        return message.get("result", message)

    def data(self, name, **arguments):
        return self.call(name, **arguments)["structuredContent"]

    def quiet(self, seconds=0.3):
        """True if nothing arrives."""
        return not select.select([self.out], [], [], seconds)[0]

    def end(self):
        self.into.close()
        return self.process.wait(60)
