"""Effects that wait for an approval while a tool of `cordon mcp` runs. Prints `ok NAME` and `not ok NAME (GOT)` lines for t8006-mcp-gates.sh.
mcp_gates.py CORDON POLICY-DIRECTORY"""
import sys

from mcp_client import Client

CORDON, POLICIES = sys.argv[1:3]
YES = {"action": "accept", "content": {"approve": True, "reason": "it prints"}}


def server(policy, *more):
    return [CORDON, "mcp", "-p", f"{POLICIES}/{policy}", *more]


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:600]})", flush=True)


def retry(c, first, answer, words=("echo", "hi\x1b[2J"), state=None):
    return c.request("tools/call", {"name": "run_command", "arguments": {"argv": list(words)}, "requestState": state or first["requestState"],
                                    "inputResponses": {"approve": answer}})["result"]


def test_modern():
    c = Client(server("ask"), elicits=True)

    def ask():
        return c.call("run_command", argv=["echo", "hi\x1b[2J"])
    first = ask()
    form = first.get("inputRequests", {}).get("approve", {}).get("params", {})
    expect("a client with forms is asked about the exact effect, inert", first["resultType"] == "input_required" and "start echo hi\\x1b[2J" in form["message"], first)
    expect("with its door and digest", "run echo ask" in form["message"] and "Digest: " in form["message"], form)
    got = retry(c, first, YES)
    expect("a yes lets it happen", got["structuredContent"]["status"] == 0 and "hi" in got["structuredContent"]["stdout"], got)
    expect("once", retry(c, first, YES)["isError"])
    got = retry(c, ask(), {"action": "decline"})
    expect("a no does not", got["isError"] and "hi" not in got["structuredContent"].get("stdout", ""), got)
    expect("and the result names the command of a person", "cordon approve" in str(got["structuredContent"]["next_steps"]), got)
    got = retry(c, ask(), {"action": "accept", "content": {"approve": "true"}})
    expect("only true is a yes", got["isError"], got)
    first = ask()
    got = retry(c, first, YES, words=("echo", "other"))
    expect("a state is for its own call", got["isError"], got)
    expect("and used up by a wrong one", retry(c, first, YES)["isError"])
    first = ask()
    got = retry(c, first, YES, state="cs-" + 32 * "0")
    expect("an invented state is refused", got["isError"], got)
    # what a model can do: call tools, with any arguments
    tools = [t["name"] for t in c.request("tools/list")["result"]["tools"]]
    expect("no tool answers", not any("approv" in t for t in tools), tools)
    for arguments in ({"argv": ["echo", "x"], "requestState": first["requestState"]}, {"argv": ["echo", "x"], "inputResponses": {"approve": YES}},
                      {"argv": ["echo", "x"], "approve": True}):
        got = c.call("run_command", **arguments)
        expect("arguments of a tool are no answer", got.get("resultType") != "complete" or got.get("isError") or "error" in got, got)
    c.end()


def test_legacy():
    c = Client(server("ask"), modern=False, elicits=True)
    c.answer = YES
    got = c.call("run_command", argv=["echo", "hi"])
    expect("the older era asks by a request", [a["method"] for a in c.asked] == ["elicitation/create"], c.asked)
    expect("and a yes lets it happen", got["structuredContent"]["stdout"] == "hi\n", got)
    c.answer = {"action": "cancel"}
    got = c.call("run_command", argv=["echo", "hi"])
    expect("anything else does not", got["isError"], got)
    c.end()


def test_outside():
    for name, command, how in (("a client without forms", server("short"), {}), ("--approve outside", server("short", "--approve", "outside"), {"elicits": True}),
                               ("a door with a group", server("group"), {"elicits": True})):
        for modern in (True, False):
            c = Client(command, modern=modern, **how)
            got = c.call("run_command", token="p", argv=["echo", "hi"])
            expect(f"{name} is not asked", not c.asked and "inputRequests" not in got and got["isError"], got)
            expect(f"{name}: the result names the command", "cordon approve" in str(got["structuredContent"]), got)
            expect(f"{name}: so does a progress message", any("cordon approve" in n["params"].get("message", "") for n in c.notes), c.notes)
            c.end()


test_modern()
test_legacy()
test_outside()
