"""Who may answer what a client of `cordon mcp` was asked: each kind of question, in both eras, by each other client of the server and by
the model. Prints `ok NAME` and `not ok NAME (GOT)` lines for t4064-approve-faces.sh. mcp_answers.py CORDON DIRECTORY"""
import os
import subprocess
import sys

from mcp_client import Client

CORDON, D = sys.argv[1:3]
WORK = D + "/work"
APPROVE = {"action": "accept", "content": {"approve": True, "apply": True}}
FORGED = 20  # numbers of questions that a client guesses


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:600]})", flush=True)


def start(c):
    return "run_command", {"argv": ["echo", "went"]}


def propose(c):
    s = c.data("session_new")["session"]
    c.data("write_file", session=s, path="new", content="went\n")
    return "propose_apply", {"session": s}


def happened(what, result):
    return "went" in str(result.get("structuredContent", {}).get("stdout", "")) if what == "start" else os.path.exists(WORK + "/new")


def table(policy, what, begin, may_happen):
    path = D + "/mcp.sock"
    server = subprocess.Popen([CORDON, "mcp", "-p", f"{D}/{policy}", "--work", WORK, "--socket", path])
    while not os.path.exists(path) and server.poll() is None:
        pass
    for modern in (True, False):
        name = f"{what} of {policy}, {'modern' if modern else 'older'} era"
        asks, other, blind = (Client(path=path, modern=modern, elicits=e) for e in (True, True, False))
        tool, arguments = begin(asks)
        number = asks.begin("tools/call", {"name": tool, "arguments": arguments})
        if modern:
            first = asks.wait(number)["result"]
            state = first.get("requestState", "")
            guesses = ["", "cs-" + 32 * "0", state[:-1] + ("0" if state[-1:] != "0" else "1")]
            for who, c, more in (("another client", other, [1, None]), ("one without forms", blind, [])):
                for guess in guesses + more:  # without a state it is a call of its own
                    got = c.request("tools/call", {"name": tool, "arguments": arguments, "requestState": guess, "inputResponses": {"approve": APPROVE}})
                    result = got.get("result", {})
                    expect(f"{name}: {who} with a state that it guesses", not happened(what, result), got)
            model = asks.request("tools/call", {"name": tool, "arguments": dict(arguments, requestState=state, inputResponses={"approve": APPROVE})})
            expect(f"{name}: the model, by arguments", not happened(what, model.get("result", {})), model)
            asks.send({"jsonrpc": "2.0", "id": 1, "result": APPROVE})
            answer = {"name": tool, "arguments": arguments, "requestState": state, "inputResponses": {"approve": APPROVE}}
        else:
            question = asks.read()
            while "method" not in question or "id" not in question:
                question = asks.read()
            for who, c in (("another client", other), ("one without forms", blind)):
                for guess in [question["id"], str(question["id"]), *range(FORGED)]:
                    c.send({"jsonrpc": "2.0", "id": guess, "result": APPROVE})
                expect(f"{name}: {who} with each number", "result" in c.request("tools/list"))
            asks.send({"jsonrpc": "2.0", "id": question["id"] + 1, "result": APPROVE})
            expect(f"{name}: still waits", not happened(what, {}) and asks.quiet(), asks.lines[-1:])
            asks.send({"jsonrpc": "2.0", "id": question["id"], "result": APPROVE})
            answer = None
        result = asks.request("tools/call", answer)["result"] if answer else asks.wait(number)["result"]
        expect(f"{name}: who was asked is heard{'' if may_happen else ', and the door asks a person at a terminal'}", happened(what, result) == may_happen, result)
        if os.path.exists(WORK + "/new"):
            os.unlink(WORK + "/new")
    server.terminate()
    server.wait(60)


def test_sight():
    """A list of changes that is longer than a form is not approved by a form."""
    c = Client([CORDON, "mcp", "-p", f"{D}/free", "--work", WORK], elicits=True)
    s = c.data("session_new")["session"]
    c.data("run_command", session=s, command="i=0; while [ $i -lt 400 ]; do echo >a-file-of-no-interest-$i; i=$((i + 1)); done; echo >zz-the-last")
    got = c.call("propose_apply", session=s)
    shown = str(got.get("inputRequests", ""))
    expect("what a form does not show is not approved by it", "zz-the-last" in shown or not shown, got)
    expect("and a person is told what to type", bool(shown) or "cordon apply" in str(got.get("structuredContent")), got)
    c.end()


os.makedirs(WORK, exist_ok=True)
table("ask", "start", start, True)
table("free", "propose", propose, True)
table("edit", "propose", propose, False)
test_sight()
