"""`cordon mcp wrap` around mcp_evil.py. Prints `ok` and `not ok` lines for t8003-mcp-wrap.sh.
mcp_wrapped.py CORDON DIRECTORY"""
import concurrent.futures
import json
import os
import pty
import socket
import subprocess
import sys

from mcp_client import Client

CORDON, TOP = sys.argv[1:3]
EVIL = os.path.join(TOP, "mcp_evil.py")
APPROVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "approver.py")
PINS = os.path.join(os.environ["CORDON_STATE"], "mcp", "pinned")
SECRET = os.path.join(TOP, "secret")
HIDDEN = ["\x1b", "\u202e", "\u200b", "\U000e0041"]


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:700]})", flush=True)


def wrapped(habit, *options, name="pinned", modern=False, **how):
    command = [CORDON, "mcp", "wrap", "--name", name, "--call-time", "2s", *options, "--read", EVIL, "--", "python3", EVIL, habit]
    return Client(command, modern=modern, elicits=True, env=dict(os.environ, GITHUB_TOKEN="SECRETMARK"), **how)


def approver(run, *words):
    """A person, or a program that is none."""
    return subprocess.run([sys.executable, APPROVER, *[w for w in words if w == "--tty"], "--run", run,
                           *[w for w in words if w != "--tty"]], capture_output=True, text=True, timeout=60, check=False).stdout


def test_benign():
    c = wrapped("benign")
    seen = json.loads(c.lines[0])["result"]["seen"]
    bad = subprocess.run([CORDON, "mcp", "wrap", "--", "no-such-server"], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    expect("a server that does not start", bad.returncode == 127, bad)
    expect("the server does not learn of forms", seen == {}, seen)
    expect("tools are listed", [t["name"] for t in c.request("tools/list")["result"]["tools"]] == ["echo"])
    expect("and called", c.call("echo", text="h\u00e9llo")["content"][0]["text"] == "h\u00e9llo")
    expect("pinned at first sight", os.path.exists(PINS) and c.end() == 0)
    c = wrapped("benign", "--calls", "3")
    expect("a pinned tool needs no list", c.call("echo", text="x")["content"][0]["text"] == "x")
    c.call("echo", text="x")
    c.call("echo", text="x")
    got = c.call("echo", text="x")
    expect("calls have a rate", got["isError"] and "minute" in got["content"][0]["text"], got)
    for rule, allowed in (("echo", True), ("other", False), ("other ask", False), ("any", True)):
        c2 = wrapped("benign", "--tool", rule)
        listed = len(c2.request("tools/list")["result"]["tools"]) == 1
        expect(f"the rule {rule}", (listed, not c2.call("echo", text="x").get("isError")) == (allowed, allowed))
        c2.end()
    for text, arguments, good in (("echo where text=text:5 only", {"text": "x"}, True), ("echo where text=text:5", {"text": "too long"}, False),
                                  ("echo where text=text:5", {"text": 7}, False), ("echo where text=text:5", {}, False),
                                  ("echo where text=text:5", {"text": "x", "Text": "y"}, False),
                                  ("echo where text=text:5 only", {"text": "x", "more": 1}, False), 
                                  ("any", {"text": "x"}, True), ("other ask", {"text": "x"}, False), ("echo until 2001-01-01", {"text": "x"}, False)):
        c2 = wrapped("benign", "--tool", text)
        got = c2.call("echo", **arguments)
        expect(f"tool {text} with {arguments}", bool(got.get("isError")) != good, got)
        c2.end()
    for answer, allowed in (("yes", True), ("no", False)):
        c2 = wrapped("benign", "--tool", "echo ask")
        run = json.loads(c2.lines[0])["result"]["_meta"]["cordon/output"]["run"]
        number = c2.begin("tools/call", {"name": "echo", "arguments": {"text": "mark\u202e"}})
        shown = json.loads(approver(run, "--wait", "1", "view"))
        said = shown["item"]["effect"] + shown["text"]
        expect("what is asked is shown, and nothing hidden", "echo" in said and "mark" in said and "\u202e" not in said, shown)
        refused = json.loads(approver(run, "yes"))
        expect("without a terminal no yes is taken", refused.get("code") == "no-terminal", refused)
        approver(run, "--tty", answer)
        got = c2.wait(number)["result"]
        expect(f"a person says {answer}", bool(got.get("isError")) != allowed and not c2.asked, got)
        c2.end()
    long = wrapped("benign", "--max", "1K")
    long.begin("tools/call", {"name": "echo", "arguments": {"text": "x" * 2000}})
    got = long.read()
    expect("messages have a size", "error" in got and got["id"] is None, got)
    got = wrapped("benign", name="fresh").call("echo", text="x")
    expect("an unknown tool is refused", got["isError"] and "listed" in got["content"][0]["text"], got)
    expect("the end of the input ends the server", c.end() == 0)
    log = subprocess.run([CORDON, "ledger", "--kind", "tool", "--json"], capture_output=True, text=True, check=True).stdout
    records = [json.loads(line) for line in log.splitlines()]
    calls = {r["id"]: r for r in records if r["phase"] == "intent"}
    results = [r for r in records if r["phase"] == "outcome"]
    expect("calls and results are in the ledger", results and all(any(p in calls for p in r["parents"]) for r in results), log)
    expect("and refusals", any(r["phase"] == "denied" and r["more"]["reason"] == "tool-rate" for r in records), log)


# Each of them: no text of it reaches the client, nothing hidden does, and the call has an answer.
CALLS = ["escape-result", "bidi-result", "tag-result", "zero-width", "silent", "huge", "endless-line", "other-id", "twice",
         "both", "nul-key", "duplicate-key", "deep", "not-json", "bad-utf8", "batch", "sampling", "elicitation", "roots",
         "client-method", "input-required", "odd-result-type", "unknown-notification", "flood", "exit", "crash", "close"]
LISTS = ["description", "schema", "title", "annotations", "output-schema", "hidden-description", "bidi-description",
         "escape-description", "new-tool", "renamed", "same-name-twice", "bad-name", "long-name", "no-name", "many-tools",
         "tool-is-text", "instructions"]
KEPT = ["new-tool", "same-name-twice", "bad-name", "long-name", "no-name", "many-tools", "tool-is-text", "instructions"]


def is_clean(c):
    text = "".join(json.dumps(json.loads(line), ensure_ascii=False) for line in c.lines if line)
    return "forged" not in text and not any(h in text for h in HIDDEN)


def try_call(habit):
    c = wrapped(habit)
    answer = c.call("echo", text="x")
    try:
        c.begin("ping")
        c.into.close()
    except BrokenPipeError:
        pass  # it has ended with its server
    while c.read():
        pass
    c.process.wait(60)
    return habit, is_clean(c) and not c.asked and answer, c.lines


def try_list(habit):
    c = wrapped(habit)
    names = [t.get("name") for t in c.request("tools/list")["result"]["tools"]]
    answer = c.call("echo", text="x")
    c.end()
    listed = ["echo"] if habit in KEPT else []
    called = habit in KEPT or habit == "renamed"  # what was accepted is still accepted
    return habit, is_clean(c) and names == listed and bool(answer.get("isError")) != called, c.lines


def test_together():
    """A list and a call in one write: the call is judged after the list, and recorded."""
    for habit, refused in (("benign", False), ("description", True)):
        c = wrapped(habit)
        asked = [{"jsonrpc": "2.0", "id": "list", "method": "tools/list"},
                 {"jsonrpc": "2.0", "id": "call", "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "x"}}}]
        c.send_raw("".join(json.dumps(m) + "\n" for m in asked).encode())
        got = c.wait("call").get("result", {})
        effect = got["_meta"].get("cordon/output", {}).get("effect")
        expect(f"a call beside a list: {habit}", bool(got.get("isError")) == refused and bool(effect) != refused, c.lines)
        c.end()
    c = wrapped("benign", modern=True)  # no initialize: the call is the first message
    got = c.call("echo", text="x")
    expect("a call before the box is up is recorded", got["_meta"]["cordon/output"]["effect"], c.lines)
    c.end()


def test_hostile():
    before = open(PINS).read()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for habit, good, got in pool.map(lambda job: job[0](job[1]), [(try_call, h) for h in CALLS] + [(try_list, h) for h in LISTS]):
            expect(f"a server with the habit {habit}", good, got)
    expect("at least forty were tried", len(CALLS) + len(LISTS) >= 40)
    expect("nothing was accepted on the way", open(PINS).read() == before)


def test_box():
    c = wrapped("steal")
    got = json.dumps(c.call("echo", text=SECRET))
    expect("files and variables of the user are not there", "SECRETMARK" not in got, got)
    c.end()
    listener = socket.create_server(("127.0.0.1", 0))
    c = wrapped("dial")
    got = c.call("echo", text=str(listener.getsockname()[1]))["content"][0]["text"]
    expect("nor the network", got.startswith("blocked"), got)
    c.end()


def at_terminal(command, answer):
    """The status of a command whose question is answered, and what it printed."""
    pid, fd = pty.fork()
    if pid == 0:
        os.execv(command[0], command)
    said = b""
    try:
        while chunk := os.read(fd, 4096):
            if b"[y/N]" not in said and b"[y/N]" in said + chunk:
                os.write(fd, answer.encode() + b"\n")
            said += chunk
    except OSError:
        pass  # its other end is closed
    os.close(fd)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said.decode(errors="replace")


def test_accept():
    c = wrapped("description")
    c.request("tools/list")
    c.end()
    shown = subprocess.run([CORDON, "mcp", "accept", "--show", "pinned"], capture_output=True, text=True, check=True).stdout
    expect("a change is shown", "- {" in shown and "+ {" in shown and "keys" in shown, shown)
    expect("with a word about an order to the model", "! echo:" in shown, shown)
    accept = [CORDON, "mcp", "accept", "pinned"]
    alone = subprocess.run(accept, input="y\n", capture_output=True, text=True, start_new_session=True, check=False)
    expect("without a terminal nothing is accepted", alone.returncode == 125 and "terminal" in alone.stderr, alone)
    expect("nor after a no", at_terminal(accept, "n")[0] == 125)
    status, said = at_terminal(accept, "y")
    expect("a person accepts at a terminal", status == 0 and "+ {" in said and "accepted" in said, said)
    c = wrapped("description")
    expect("and passes when it is accepted", len(c.request("tools/list")["result"]["tools"]) == 1)
    c.end()
    again = subprocess.run([CORDON, "mcp", "accept", "pinned"], capture_output=True, check=False)
    expect("then nothing waits", again.returncode == 125, again)


def test_learn():
    got = subprocess.run([CORDON, "mcp", "learn", "-n", "1", "--", "python3", EVIL], capture_output=True, text=True, check=False)
    expect("learn proposes the server's doors", got.returncode == 0 and EVIL in got.stdout and "\ntool any\n" in got.stdout, got)


for test in [test_benign, test_together, test_hostile, test_box, test_accept, test_learn]:
    test()
