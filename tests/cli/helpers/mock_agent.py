"""A coding agent in small: asks the API at ANTHROPIC_BASE_URL, runs the shell commands that it answers with, prints its last text."""
import json
import os
import subprocess
import sys
import urllib.request

if "--version" in sys.argv:
    print("mock 1.0")
    sys.exit(0)
TOOL = {"name": "Bash", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}
messages = [{"role": "user", "content": " ".join(sys.argv[1:])}]
for _ in range(5):
    request = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps({"model": "m", "tools": [TOOL], "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["ANTHROPIC_AUTH_TOKEN"]})
    with urllib.request.urlopen(request, timeout=60) as answer:
        message = json.load(answer)
    block = message["content"][0]
    if block["type"] == "text":
        print(block["text"])
        break
    done = subprocess.run(["sh", "-c", block["input"]["command"]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    messages += [{"role": "assistant", "content": [block]},
                 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": block["id"], "content": done.stdout.decode("utf-8", "replace")}]}]
