"""`cordon mcp` as a client sees it. Prints `ok NAME` and `not ok NAME (GOT)` lines for t8001-mcp.sh.
mcp_server.py CORDON WORKSPACE"""
import json
import os
import subprocess
import sys

from mcp_client import Client, VERSION, CAPABILITIES

CORDON, WORK = sys.argv[1:3]
SERVER = [CORDON, "mcp", "--edit", ".", "--work", WORK]


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:600]})", flush=True)


def test_eras():
    c = Client(SERVER)
    found = c.request("server/discover")["result"]
    expect("discover names both versions", found["supportedVersions"] == ["2026-07-28", "2025-11-25"], found)
    expect("results carry their type, server and age", found["resultType"] == "complete" and found["ttlMs"] >= 0
           and found["cacheScope"] == "public" and "io.modelcontextprotocol/serverInfo" in found["_meta"], found)
    first, second = c.request("tools/list")["result"], c.request("tools/list")["result"]
    names = [t["name"] for t in first["tools"]]
    expect("the list is sorted and always the same", first == second and names == sorted(names), names)
    expect("every tool has both schemas", all(t["inputSchema"]["type"] == t["outputSchema"]["type"] == "object"
                                              for t in first["tools"]))
    meta = {VERSION: "1999-01-01", CAPABILITIES: {}}
    c.send({"jsonrpc": "2.0", "id": "v", "method": "tools/list", "params": {"_meta": meta}})
    error = c.wait("v")["error"]
    expect("another version is refused", error["code"] == -32022 and error["data"]["requested"] == "1999-01-01", error)
    c.send({"jsonrpc": "2.0", "id": "w", "method": "tools/list", "params": {"_meta": {VERSION: "2026-07-28"}}})
    expect("capabilities are required", c.wait("w")["error"]["code"] == -32602)
    c.send({"jsonrpc": "2.0", "id": "x", "method": "tools/list"})
    expect("a request without an era is refused", c.wait("x")["error"]["code"] == -32602)
    expect("an unknown method is an error", c.request("tools/nothing")["error"]["code"] == -32601)
    expect("initialize is not of this era", c.request("initialize")["error"]["code"] == -32601)
    got = c.call("run_python", source="1")
    expect("an unknown argument is named with those that there are", "code (required)" in json.dumps(got), got)
    expect("an unknown tool is an error", c.call("rm")["error"]["code"] == -32602)
    c.send_raw(b"{nonsense\n\n[1]\n")
    expect("what is not JSON is answered", c.wait(None)["error"]["code"] == -32700)
    expect("a batch is answered", c.wait(None)["error"]["code"] == -32600)
    expect("the server ends with its input", c.end() == 0)

    c = Client(SERVER, modern=False)
    expect("the older era has the same tools", [t["name"] for t in c.request("tools/list")["result"]["tools"]] == names)
    got = c.call("run_command", command="echo old")
    expect("and its results no type", "resultType" not in got and got["structuredContent"]["stdout"] == "old\n", got)
    expect("ping answers with nothing", c.request("ping")["result"] == {})
    expect("discover is not of this era", c.request("server/discover")["error"]["code"] == -32601)
    c.modern = True
    expect("a request of the newer era is served beside it", c.request("server/discover")["result"]["resultType"] == "complete")
    c.end()


def test_runs():
    c = Client(SERVER)
    got = c.call("run_command", command="echo out; echo err >&2; exit 3", token="p")
    data = got["structuredContent"]
    expect("a command has its output and status", (data["stdout"], data["stderr"], data["status"]) == ("out\n", "err\n", 3), data)
    expect("a failure is an error that the model reads", got["isError"] and json.loads(got["content"][0]["text"]) == data)
    expect("progress has the token", c.notes and c.notes[0]["params"]["progressToken"] == "p", c.notes)
    data = c.data("run_command", argv=["printf", "%s", "a b", "$x"])
    expect("argv has no shell", data["stdout"] == "a b$x", data)
    data = c.data("run_python", code="import sys; print(sys.argv[1:], sys.stdin.read())", args=["-x"], stdin="in")
    expect("python runs", data["stdout"] == "['-x'] in\n", data)
    data = c.data("run_command", command="printf 'a\\033]0;t\\007\\342\\200\\256b'")
    expect("hidden characters become visible", "\x1b" not in data["stdout"] and "\u202e" not in data["stdout"]
           and data["cut"] >= 2, data)
    data = c.data("run_command", command="while :; do :; done", seconds=1)
    expect("a run ends after its seconds", data["status"] == 124 and data["limit"] == "seconds", data)
    data = c.data("run_command", command=f"cat {WORK}/../secret")
    expect("a blocked effect is not silent", data["status"] != 0 and "outside" not in data["stdout"], data)
    got = c.call("run_command", argv=["no-such-program"])
    expect("a program that does not exist", got["isError"] and got["structuredContent"]["status"] == 127, got)
    one = c.begin("tools/call", {"name": "run_command", "arguments": {"command": "sleep 600"}})
    two = c.begin("tools/call", {"name": "run_command", "arguments": {"command": "echo two"}})
    expect("calls run side by side", c.wait(two)["result"]["structuredContent"]["stdout"] == "two\n")
    c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
    expect("a cancelled call has no answer", c.data("run_command", command="echo on")["stdout"] == "on\n" and c.quiet())
    same = json.dumps({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {
        "name": "run_command", "arguments": {"command": "sleep 600"}, "_meta": {VERSION: "2026-07-28", CAPABILITIES: {}}}})
    c.send_raw((same + "\n" + same + "\n").encode())
    expect("an id is used once at a time", c.wait("same")["error"]["code"] == -32600)
    expect("the end does not wait for runs", c.end() == 0)


def test_sessions():
    c = Client(SERVER)
    s = c.data("session_new")["session"]
    expect("a handle has 128 random bits", len(s) == 35 and s != c.data("session_new")["session"], s)
    expect("a file is written", c.data("write_file", session=s, path="d/one", content="1\n")["bytes"] == 2)
    expect("and read", c.data("read_file", session=s, path="d/one")["content"] == "1\n")
    c.data("run_command", session=s, command="touch .b a; ln -s a l; mkdir d2")
    data = c.data("list_files", session=s)
    expect("and listed", [(f["name"], f["type"]) for f in data["files"] if f["name"] != "kept"] ==
           [(".b", "file"), ("a", "file"), ("d", "directory"), ("d2", "directory"), ("l", "symlink")], data)
    got = c.call("read_file", session=s, path="../secret")
    expect("a path does not lead out of the box", got["isError"] and "outside" not in json.dumps(got), got)
    got = c.call("read_file", session=s, path="nothing")
    expect("a missing file is an error", got["isError"] and "No such file" in got["structuredContent"]["stderr"], got)
    expect("the host has none of it", sorted(os.listdir(WORK)) == ["kept"], os.listdir(WORK))
    expect("a running session is not compared", c.call("diff", session=s)["isError"])
    data = c.data("session_end", session=s)
    expect("its end names the changes", data["changes"] >= 4 and "cordon diff" in data["next_steps"][0], data)
    expect("no run after that", c.call("run_command", session=s, command="true")["isError"])
    expect("its diff can be read", "d/one" in c.data("diff", session=s)["diff"])
    got = c.call("propose_apply", session=s)
    expect("without a form a person is told what to type", got["isError"] and
           "cordon apply" in got["structuredContent"]["next_steps"][0], got)
    expect("a wrong handle is refused", c.call("run_command", session="cs-" + 32 * "0", command="true")["isError"])
    got = c.data("why", effect="read /etc/shadow")
    expect("why explains", got["allowed"] is False and got["decision"]["code"] == "no-door", got)
    expect("doors lists the policy", any(d.get("edit") == WORK for d in c.data("doors")["doors"]["policy"]["doors"]))
    c.end()


def make_change(c, name):
    s = c.data("session_new")["session"]
    c.data("write_file", session=s, path=name, content="new\n")
    return s


def test_approval():
    c = Client(SERVER, elicits=True)
    s = make_change(c, "agreed")
    first = c.call("propose_apply", session=s, reason="because")
    form = first["inputRequests"]["approve"]["params"]
    expect("a client with forms is asked", first["resultType"] == "input_required" and "because" in form["message"], first)
    expect("the question shows the files", "agreed" in form["message"], form)

    def retry(state, answer, **arguments):
        return c.request("tools/call", {"name": "propose_apply", "arguments": arguments, "requestState": state,
                                        "inputResponses": {"approve": answer}})["result"]
    yes = {"action": "accept", "content": {"apply": True}}
    got = retry(first["requestState"], yes, session=s, reason="other")
    expect("a state is for its own call", got["isError"] and not os.path.exists(WORK + "/agreed"), got)
    got = retry(first["requestState"], yes, session=s, reason="because")
    expect("and is used up by a wrong one", got["isError"] and not os.path.exists(WORK + "/agreed"), got)
    first = c.call("propose_apply", session=s)
    got = retry(first["requestState"], {"action": "accept", "content": {"apply": "yes"}}, session=s)
    expect("only true is a yes", got["isError"] and not os.path.exists(WORK + "/agreed"), got)
    first = c.call("propose_apply", session=s)
    got = retry(first["requestState"], yes, session=s)
    expect("the person's yes applies", got["structuredContent"]["applied"] and os.path.exists(WORK + "/agreed"), got)
    got = retry("cs-" + 32 * "0", yes, session=s)
    expect("an invented state is refused", got["isError"], got)
    c.end()

    c = Client(SERVER, modern=False, elicits=True)
    s = make_change(c, "declined")
    c.answer = {"action": "decline"}
    got = c.call("propose_apply", session=s)
    expect("the older era asks by a request", c.asked and c.asked[0]["method"] == "elicitation/create", c.asked)
    expect("a no leaves the host alone", got["isError"] and not os.path.exists(WORK + "/declined"), got)
    s = make_change(c, "accepted")
    c.answer = yes
    got = c.call("propose_apply", session=s)
    expect("a yes applies there as well", os.path.exists(WORK + "/accepted"), got)
    s = c.data("session_new")["session"]
    c.data("write_file", session=s, path=".git/hooks/post-commit", content="#!/bin/sh\n")
    got = c.call("propose_apply", session=s)
    expect("what the host would execute is held back", not os.path.exists(WORK + "/.git/hooks/post-commit"), got)
    c.end()

    c = Client(SERVER + ["--approve", "outside"], elicits=True)
    got = c.call("propose_apply", session=make_change(c, "outside"))
    expect("--approve outside asks no client", "inputRequests" not in got and got["isError"], got)
    c.end()


def test_socket():
    path = WORK + "/../mcp.sock"
    server = subprocess.Popen(SERVER + ["--socket", path])
    while not os.path.exists(path) and server.poll() is None:
        pass
    expect("the socket is closed to others", os.stat(path).st_mode & 0o777 == 0o600)
    one, two = Client(path=path), Client(path=path)
    s = one.data("session_new")["session"]
    one.data("write_file", session=s, path="shared", content="x")
    one.sock.close(), one.into.close(), one.out.close()
    expect("a session outlives its connection", two.data("read_file", session=s, path="shared")["content"] == "x")
    second = subprocess.run(SERVER + ["--socket", path], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    expect("a second server does not take the socket", second.returncode == 125, second)
    server.terminate()
    expect("SIGTERM ends it in order", server.wait(60) == 0 and not os.path.exists(path))


for test in [test_eras, test_runs, test_sessions, test_approval, test_socket]:
    test()
