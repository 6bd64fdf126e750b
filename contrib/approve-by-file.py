#!/usr/bin/env python3
# approve-by-file.py DIR [URL] - an approver for members of a group (`ask by N of GROUP`), as docs/approve-protocol.md has it.
#
# Each effect that waits is written to DIR/ID.json and, with URL, posted there. A file DIR/ID.yes approves it, DIR/ID.no denies
# it; its text is the reason. Give DIR to whom you trust with approvals: who writes there answers in your name. What is over is
# removed. One round with --once.
import glob, json, os, socket, struct, sys, time, urllib.request

def sockets():
    for line in open("/proc/net/unix", errors="replace"):
        words = line.split()
        if words[-1].startswith("@cordon-gate/") and words[3] == "00010000":
            yield words[-1][1:]

def connect(name):
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(10)
    s.connect("\0" + name)
    uid = struct.unpack("iII", s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
    if str(uid) != name.split("/")[1]:
        raise OSError("another user has this name")
    return s.makefile("rw", encoding="utf-8", newline="\n")

def ask(channel, **request):
    channel.write(json.dumps(request) + "\n")
    channel.flush()
    return json.loads(channel.readline() or '{"ok": false}')

def write(path, text):
    with open(path + ".tmp", "w") as f:
        f.write(text)
    os.rename(path + ".tmp", path)

def answer(channel, item, path):
    for word in ("yes", "no"):
        if os.path.exists(path + "." + word):
            reason = open(path + "." + word).read().strip()[:200]
            got = ask(channel, op="answer", id=item["id"], yes=word == "yes", reason=reason, challenge=item["id"][-4:])
            print(item["id"][:12], word, got.get("state", got.get("error")), flush=True)
            os.unlink(path + "." + word)

def post(url, shown):
    try:
        urllib.request.urlopen(urllib.request.Request(url, json.dumps(shown).encode(), {"Content-Type": "application/json"}), timeout=10)
    except OSError as e:
        print("not posted:", e, file=sys.stderr, flush=True)  # the file is there all the same

def turn(directory, url):
    seen = set()
    for name in sockets():
        try:
            channel = connect(name)
            items = ask(channel, op="list").get("items", [])
        except (OSError, ValueError):
            continue
        for item in items:
            path = os.path.join(directory, item["id"])
            seen.add(item["id"])
            if not os.path.exists(path + ".json"):
                shown = ask(channel, op="show", id=item["id"])
                write(path + ".json", json.dumps(shown, indent=1))
                if url:
                    post(url, shown)
            answer(channel, item, path)
    for path in glob.glob(os.path.join(directory, "*.json")):
        if os.path.basename(path)[:-5] not in seen:
            os.unlink(path)

words = [w for w in sys.argv[1:] if w != "--once"]
while True:
    turn(words[0], words[1] if len(words) > 1 else None)
    if "--once" in sys.argv:
        break
    time.sleep(1)
