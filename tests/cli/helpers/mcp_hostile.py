"""Fifty arguments that try to widen the policy of `cordon mcp`. Prints `ok` and `not ok` lines for t8002-mcp-hostile.sh.
mcp_hostile.py CORDON WORKSPACE (MCP_HTTP: over HTTP); WORKSPACE/../secret contains SECRETMARK and stays as it is."""
import json
import os
import sys

from mcp_client import Client, VERSION, CAPABILITIES
from mcp_http_client import HttpClient

CORDON, WORK = sys.argv[1:3]
TOP = os.path.dirname(WORK)
SECRET = TOP + "/secret"
CAT = f"cat {SECRET}"
SEND = f"echo no >{SECRET}; echo no >{TOP}/planted"

c = (HttpClient if os.environ.get("MCP_HTTP") else Client)([CORDON, "mcp", "--edit", ".", "--work", WORK, "--run", "any"])
session = c.data("session_new")["session"]

RUN = [  # further arguments of run_command
    {"policy": "read /"}, {"doors": [f"read {TOP}"]}, {"read": TOP}, {"write": TOP}, {"edit": "/"}, {"net": "any"},
    {"wall": "process"}, {"without": "mount"}, {"env": {"HOME": "/root"}}, {"cwd": TOP}, {"root": True}, {"user": 0},
    {"image": "/"}, {"options": ["--read", TOP]}, {"limit": "time 1d"}, {"use": "base/system"}, {"privileged": True},
    {"approve": True}, {"_meta": {"policy": "any"}}, {"__proto__": {"read": TOP}}, {"session": ""}, {"session": "*"},
    {"session": session[:-1]}, {"session": session + "0"}, {"session": session.upper()}, {"session": None},
    {"session": [session]}, {"seconds": 0}, {"seconds": -1}, {"seconds": 10 ** 18}, {"seconds": 1.5}, {"seconds": "1"},
    {"argv": ["cat", SECRET]}, {"stdin": {"file": SECRET}}, {"stdin": f"@{SECRET}"}, {"\u202eread": TOP}, {"Read": TOP},
]
COMMANDS = [CAT, SEND, f"cordon run --read {TOP} -- {CAT}", f"{CORDON} run --read {TOP} -- {CAT}",
            f"ln -s {SECRET} l; cat l", f"mount --bind {TOP} /mnt; cat /mnt/secret", f"unshare -Ur sh -c '{CAT}'",
            "cat /proc/1/root" + SECRET, "ls /proc/*/fd | head -c 100; cat /proc/self/cwd/../secret"]
FILES = [("read_file", {"path": SECRET}), ("read_file", {"path": "../secret"}), ("read_file", {"path": "-n"}),
         ("read_file", {"path": "x; " + CAT}), ("read_file", {"path": "$(" + CAT + ")"}),
         ("list_files", {"path": TOP}), ("list_files", {"path": "'; " + CAT + "; '"}),
         ("write_file", {"path": SECRET, "content": "no"}), ("write_file", {"path": "../planted", "content": "no"})]
RAW = ['{"command":"true","command":"%s"}' % CAT, '{"command\\u0000":"%s"}' % CAT, '{"command":"true\\u0000%s"}' % CAT,
       '"%s"' % CAT, '["%s"]' % CAT]

count = 0


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:600]})", flush=True)


def judge(what, answer):
    global count
    count += 1
    held = "SECRETMARK" not in json.dumps(answer) and open(SECRET).read() == "SECRETMARK\n"
    held = held and not os.path.exists(TOP + "/planted")
    expect(f"{count}: {what}", held, answer)
    return answer


doors = c.data("doors")
for extra in RUN:
    got = judge(f"run_command with {extra}", c.call("run_command", **{"command": CAT, **extra}))
    if "stdin" not in extra or not isinstance(extra["stdin"], str):
        expect("which is refused", got["isError"] and got["structuredContent"].get("error"), got)
for command in COMMANDS:
    judge(command, c.call("run_command", command=command))
    judge(command + " (in a session)", c.call("run_command", command=command, session=session))
for tool, arguments in FILES:
    judge(f"{tool} {arguments}", c.call(tool, session=session, **arguments))
for text in RAW:
    meta = json.dumps({VERSION: "2026-07-28", CAPABILITIES: {}})
    c.send_raw(('{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{"name":"run_command","arguments":%s,"_meta":%s}}\n'
                % (text, meta)).encode())
    answer = c.read()
    judge(text, answer)
    expect("which is refused", "error" in answer or answer["result"]["isError"], answer)
expect("at least fifty were tried", count >= 50, count)
expect("the policy is as it was", c.data("doors") == doors)
expect("the server ends well", c.end() == 0)
