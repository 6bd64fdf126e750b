"""Servers from npm behind `cordon mcp wrap`: npm_servers.py CORDON NPM NODE DIRECTORY. Prints `ok` and `not ok` lines."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli", "helpers"))
sys.dont_write_bytecode = True
from mcp_client import Client  # noqa: E402

CORDON, NPM, NODE, TOP = sys.argv[1:5]
PACKAGES = os.path.join(NPM, "node_modules")
OFFICIAL = "@modelcontextprotocol/server-"
NOTES = os.path.join(TOP, "notes")
os.makedirs(NOTES, exist_ok=True)
with open(os.path.join(NOTES, "a.txt"), "w", encoding="ascii") as f:
    f.write("note\n")
THOUGHT = {"thought": "a", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1}
ENTITY = {"entities": [{"name": "x", "entityType": "t", "observations": ["o"]}]}
SERVERS = [  # package, doors, arguments, calls with a part of their answers
    (OFFICIAL + "filesystem", ["--edit", NOTES], [NOTES], [
        ("read_text_file", {"path": NOTES + "/a.txt"}, "note"), ("write_file", {"path": NOTES + "/b.txt", "content": "b"}, "Success"),
        ("read_text_file", {"path": "/etc/passwd"}, "denied")]),
    (OFFICIAL + "memory", ["--env", f"MEMORY_FILE_PATH={NOTES}/m.jsonl", "--edit", NOTES], [], [("create_entities", ENTITY, "x")]),
    (OFFICIAL + "everything", [], [], [("echo", {"message": "hi"}, "Echo: hi"), ("get-sum", {"a": 1, "b": 2}, "3")]),
    (OFFICIAL + "sequential-thinking", [], [], [("sequentialthinking", THOUGHT, "thoughtNumber")]),
    ("@cyanheads/git-mcp-server", ["--edit", NOTES, "--use", "base/git"], [], [("git_init", {"path": NOTES}, NOTES)]),
    ("mcp-fetch-server", [], [], [("fetch_txt", {"url": "https://example.com/"}, "isError")]),
]
for name, doors, arguments, calls in SERVERS:
    start = os.path.join(PACKAGES, name, "dist", "index.js")
    if not os.path.exists(start):
        print(f"ok {name} # SKIP npm does not have it")
        continue
    c = Client([CORDON, "mcp", "wrap", "--name", name.split("/")[-1], "--read", NPM, *doors, "--", NODE, start, *arguments], modern=False)
    tools = c.request("tools/list")["result"]["tools"]
    print(("ok" if tools else "not ok") + f" {name} lists {len(tools)} tools", flush=True)
    for tool, what, part in calls:
        got = str(c.call(tool, **what))
        print(("ok" if part in got else "not ok") + f" {name}: {tool}" + ("" if part in got else f" ({got[:300]})"), flush=True)
    c.end()
print("ok the host has no new file" if os.listdir(NOTES) == ["a.txt"] else f"not ok a file reached the host {os.listdir(NOTES)}")
