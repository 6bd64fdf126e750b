"""`cordon mcp wrap --url` before mcp_evil_http.py. Prints `ok` and `not ok` lines for t8007-mcp-wrap-url.sh.
mcp_wrapped_url.py CORDON PORT SEEN, the file with what the server was asked."""
import concurrent.futures
import json
import os
import subprocess
import sys

from mcp_client import Client

CORDON, PORT, SEEN = sys.argv[1:4]
HIDDEN = ["\x1b", "\u202e", "\u200b"]
URL = f"http://127.0.0.1:{PORT}/"


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:700]})", flush=True)


def wrapped(habit, *options, modern=False, name="pinned"):
    return Client([CORDON, "mcp", "wrap", "--name", name, "--call-time", "2s", *options, "--url", URL + habit], modern=modern, elicits=True)


def seen(habit, part=""):
    with open(SEEN, encoding="ascii") as f:
        return [r for r in map(json.loads, f) if r["path"] == "/" + habit and part in json.dumps(r)]


def test_benign():
    for era in (False, True):
        c = wrapped("benign", modern=era)
        listed = [t["name"] for t in c.request("tools/list")["result"]["tools"]]
        expect(f"tools are listed, modern: {era}", listed == ["echo"], listed)
        expect("and called", c.call("echo", text="h\u00e9llo")["content"][0]["text"] == "h\u00e9llo", c.lines)
        got = c.request("prompts/list")
        expect("an error keeps its code", got["error"]["code"] == -32601, got)
        expect("the end of the input ends it", c.end() == 0)
    old, new = [[r["headers"] for r in seen("benign", f'"{era}"')] for era in ("2025-11-25", "2026-07-28")]
    expect("the older era has its session", [h.get("mcp-session-id") for h in old[1:]] == ["first"] * (len(old) - 1) and "mcp-session-id" not in old[0], old)
    expect("which is ended", [r["headers"]["mcp-session-id"] for r in seen("benign", "DELETE")] == ["first"], old)
    expect("the newer era has its headers", any(h.get("mcp-method") == "tools/call" and h.get("mcp-name") == "echo" for h in new)
           and not any("mcp-session-id" in h for h in new), new)
    expect("no server learns of forms", not seen("benign", "elicitation"))
    c = wrapped("progress", modern=True)
    got = c.call("echo", token="t", text="x")
    expect("progress comes before the answer", c.notes and "isError" not in got, c.lines)
    c.end()
    for habit in ("split", "event-many-lines"):
        c = wrapped(habit)
        expect(f"events: {habit}", c.call("echo", text="\u00e9\U0001f600" * 9)["content"][0]["text"] == "\u00e9\U0001f600" * 9, c.lines)
        c.end()
    c = wrapped("listens")
    while not c.notes:
        message = c.read()
        c.notes += [message] if message is None or "method" in message else []
    expect("what is said unasked arrives", "unasked" in json.dumps(c.notes), c.lines)
    c.end()


def test_rules():
    c = wrapped("benign", "--tool", "echo where text=text:5")
    expect("bounds of arguments", c.call("echo", text="too long")["isError"] and not c.call("echo", text="x").get("isError"), c.lines)
    c.end()
    log = subprocess.run([CORDON, "ledger", "--kind", "tool", "--json"], capture_output=True, text=True, check=True).stdout
    phases = {json.loads(line)["phase"] for line in log.splitlines()}
    expect("calls, results and refusals are in the ledger", phases >= {"intent", "outcome", "denied"}, log)
    ask = json.dumps({"jsonrpc": "2.0", "id": "last", "method": "tools/list"})
    got = subprocess.run([CORDON, "mcp", "wrap", "--name", "pinned", URL + "benign"], input=ask + "\n", capture_output=True, text=True, check=False)
    expect("a URL in place of the command; all requests at once are answered", got.returncode == 0 and json.loads(got.stdout)["id"] == "last", got)
    bad = subprocess.run([CORDON, "mcp", "wrap", "--url", "ftp://x/"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    expect("another scheme is refused", bad.returncode == 125 and "hint" in bad.stderr, bad)


def test_policy(top):
    """A policy that has a door for the server keeps it: its credential is added outside."""
    place = os.path.join(top, "doors.cordon")
    with open(place, "w", encoding="ascii") as f:
        f.write(f"box bridge\nuse base/system\nnet {URL}keyed POST GET DELETE with mcpkey\n")
    with open(place + ".key", "w", encoding="ascii") as f:
        f.write("Secret0fTheServer99")
    added = subprocess.run([CORDON, "vault", "add", "mcpkey", "--from-file", place + ".key"], capture_output=True, check=False)
    expect("a credential is kept", added.returncode == 0, added)
    c = wrapped("keyed", "-p", place)
    closed = c.call("echo", text="x")
    c.end()
    expect("a policy without a tool line opens no tool", closed.get("isError"), closed)
    with open(place, "a", encoding="ascii") as f:
        f.write("tool echo\n")
    c = wrapped("keyed", "-p", place)
    got = c.call("echo", text="x")
    c.end()
    sent = {r["headers"].get("authorization") for r in seen("keyed", "tools/call")}
    expect("the credential is added", sent == {"Bearer Secret0fTheServer99"} and got["content"][0]["text"] == "x", (sent, got))


# Each: no text of it reaches the client, nothing hidden does, the call has an answer, and nothing but this server is asked.
CALLS = ["html", "no-type", "text-type", "other-id", "batch", "not-json", "empty", "null", "both", "two-messages", "newline-key", "bad-utf8",
         "split-utf8", "nul", "deep", "huge", "escape", "bidi", "asks", "input-required", "redirect", "moved", "unauthorized", "forbidden",
         "gone", "broken", "accepted", "odd-status", "giant-header", "many-headers", "two-lengths", "bad-chunk", "cut", "not-http", "close",
         "session-swap", "silent", "drip", "endless-events", "endless-line", "endless-comment", "event-other-id", "event-not-json",
         "event-asks", "event-no-answer", "event-twice", "unasked", "odd-session", "long-session", "no-session"]
PASS = ["escape", "bidi", "session-swap", "event-other-id", "event-not-json", "event-asks", "event-twice", "unasked", "odd-session", "long-session",
        "no-session"]
LISTS = ["description", "new-tool"]


def is_clean(c):
    text = "".join(json.dumps(json.loads(line), ensure_ascii=False) for line in c.lines if line)
    return "forged" not in text and not any(h in text for h in HIDDEN) and not c.asked


def try_call(habit):
    c = wrapped(habit, "--max", "1M", modern=len(habit) % 2 and "session" not in habit and habit != "unasked")
    got = c.call("echo", text="x")
    failed = bool(got.get("isError") or got.get("error"))
    again = c.call("echo", text="x")  # the session goes on
    c.end()
    ids = {r["headers"].get("mcp-session-id", "first") for r in seen(habit)}
    return habit, is_clean(c) and failed == (habit not in PASS) and again and "second" not in ids, c.lines


def try_list(habit):
    c = wrapped(habit)
    names = [t.get("name") for t in c.request("tools/list")["result"]["tools"]]
    c.end()
    return habit, is_clean(c) and names == (["echo"] if habit == "new-tool" else []), c.lines


def test_hostile():
    pins = os.path.join(os.environ["CORDON_STATE"], "mcp", "pinned")
    before = open(pins, encoding="ascii").read()
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for habit, good, got in pool.map(lambda job: job[0](job[1]), [(try_call, h) for h in CALLS] + [(try_list, h) for h in LISTS]):
            expect(f"a server with the habit {habit}", good, got)
    expect("at least forty were tried", len(CALLS) + len(LISTS) >= 40)
    expect("nothing was accepted on the way", open(pins, encoding="ascii").read() == before)


def test_unlisted():
    """A server that cannot be asked for its tools: the reason reaches the person and the client."""
    for url, word in ((URL + "locked", "with NAME"), ("http://127.0.0.1:1/", "no connection to 127.0.0.1:1")):
        c = Client([CORDON, "mcp", "wrap", "--name", "unlisted", "--url", url], modern=True)
        failed = c.request("tools/list").get("error", {}).get("message", "")
        got = c.call("echo", text="x")
        expect(f"unlisted: {word}", word in failed and got["isError"] and failed[:40] in got["content"][0]["text"], (failed, got))
        c.end()


test_benign()
test_rules()
test_unlisted()
test_policy(os.path.dirname(SEEN))
test_hostile()
