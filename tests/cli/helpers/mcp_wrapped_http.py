"""`cordon mcp wrap --http`: clients over HTTP that share one server, started or at a URL. Prints `ok` and `not ok` lines for
t8008-mcp-wrap-http.sh. mcp_wrapped_http.py CORDON DIRECTORY PORT, of mcp_evil_http.py"""
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys

from mcp_http_client import HttpClient

CORDON, TOP, PORT = sys.argv[1:4]
EVIL = os.path.join(TOP, "mcp_evil.py")
TOKEN = os.path.join(TOP, "token")
HIDDEN = ["\x1b", "\u202e", "\u200b"]


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:700]})", flush=True)


class Wrapped:
    """A wrapped server and the place where it is served."""

    def __init__(self, *words):
        self.process = subprocess.Popen([CORDON, "mcp", "wrap", "--name", "shared", "--call-time", "5s", "--http", "127.0.0.1:0", "--token-file", TOKEN,
                                         *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+/mcp", self.process.stderr.readline()).group()
        with open(TOKEN, encoding="ascii") as f:
            self.token = f.read().strip()

    def client(self, **how):
        return HttpClient(url=self.url, token=self.token, **how)

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stderr.close()
        return code


def started(habit, *options):
    return Wrapped(*options, "--read", EVIL, "--", "python3", EVIL, habit)


def text(result):
    return result["content"][0]["text"]


def test_eras(w, title):
    for era in (False, True):
        c = w.client(modern=era)
        listed = [t["name"] for t in c.request("tools/list")["result"]["tools"]]
        expect(f"{title}: tools are listed, modern: {era}", listed == ["echo"], listed)
        got = c.call("echo", text="h\u00e9llo")
        expect(f"{title}: and called", text(got) == "h\u00e9llo" and got["_meta"]["cordon/output"]["effect"], got)
        got = c.request("prompts/list")
        expect(f"{title}: an error has its status", got["error"]["code"] == -32601 and c.status == (404 if era else 200), (got, c.status))


def test_shared(w):
    """The same ids and tokens, at the same time: each client has its own answers."""
    clients = [w.client() for _ in range(6)]

    def work(i):
        return all(text(clients[i].call("echo", token=1, text=f"{i} {n}")) == f"{i} {n}" for n in range(10))
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        good = list(pool.map(work, range(6)))
    expect("clients with the same ids have their own answers", all(good), good)


def test_refused(w):
    c = w.client()
    stranger = HttpClient(url=w.url, token="wrong")
    expect("a token is needed", stranger.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) == 401)
    head = dict(c.headers(), **{"Mcp-Method": "tools/list"})
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}
    expect("headers that differ are refused", c.post(message, head).answer().status == 400)
    got = c.call("other")
    expect("an unknown tool is refused", got["isError"] and "accept shared" in text(got), got)


def test_gone(w):
    """A client that goes cancels its call, and no other."""
    c, other = w.client(), w.client()
    c.begin("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    c.open[c.last].close()
    expect("a client that goes disturbs no other", text(other.call("echo", text="y")) == "y")


def test_hostile():
    for habit in ("escape-result", "bidi-result", "other-id", "twice", "sampling", "unknown-notification", "flood", "not-json", "batch"):
        w = started(habit)
        c, other = w.client(), w.client()
        got = [c.call("echo", text="x"), other.call("echo", text="x")]
        said = json.dumps(got, ensure_ascii=False) + "".join(c.lines + other.lines)
        expect(f"a server with the habit {habit}", "forged" not in said and not any(h in said for h in HIDDEN) and not c.asked, said)
        w.end()


def main():
    w = started("benign")
    test_eras(w, "started")
    test_shared(w)
    test_refused(w)
    test_gone(w)
    expect("SIGTERM ends it", w.end() == 0)
    w = Wrapped("--url", f"http://127.0.0.1:{PORT}/progress")
    test_eras(w, "at a URL")
    clients = [w.client(), w.client()]
    for c, token in zip(clients, ("t", 7)):
        c.call("echo", token=token, text="x")
        expect("progress comes with the client's own token", [n["params"]["progressToken"] for n in c.notes] == [token], c.notes)
    w.end()
    w = started("benign", "--tool", "other")
    c = w.client()
    expect("a tool that no line names is neither listed nor called", not c.request("tools/list")["result"]["tools"] and c.call("echo", text="x")["isError"], c.lines)
    w.end()
    test_hostile()


main()
