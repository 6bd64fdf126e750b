# approver.py - an approver written from docs/approve-protocol.md alone: python3 and its standard library.
#
#   approver.py [--tty] [--run RUN | --at NAME] [--wait N] OP [KEY=VALUE...]     VALUE is JSON, or else a text
#
# Finds the sockets of this test's running boxes, sends one request to each (or to RUN) and prints each answer as a line. `yes`
# and `no` show the first effect and answer it, `hold` shows it and stays, `items` lists what waits in all of them; KEY=VALUE goes
# into the answer. --at: this socket alone, listed or not. --wait: until N effects are pending. --tty: on a terminal of its own, as a
# person's.
import json, os, pty, shlex, socket, struct, sys, time

at = None

def addresses():
    found = {at} if at else set()
    if at:
        return found
    for line in open("/proc/net/unix", errors="replace"):
        name = line.split()[-1]
        if name.startswith("@cordon-gate/") and line.split()[3] == "00010000":
            found.add(name[1:])
    return sorted(found)

class Channel:
    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(20)
        self.socket.connect("\0" + name)
        self.file = self.socket.makefile("rw", encoding="utf-8", newline="\n")

    def ask(self, **request):
        try:
            self.file.write(json.dumps(request) + "\n")
            self.file.flush()
            line = self.file.readline()
        except OSError:
            line = ""
        return json.loads(line) if line else {"ok": False, "code": "closed"}

def value(text):
    try:
        return json.loads(text)
    except ValueError:
        return text

def is_ours(channel):
    """Other tests ask at the same time: a box is of this one if its keeper's state lies where ours does."""
    state = os.environ.get("CORDON_STATE")
    try:
        pid = struct.unpack("3i", channel.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        theirs = [v[13:] for v in open("/proc/%d/environ" % pid).read().split("\0") if v.startswith("CORDON_STATE=")]
    except OSError:
        return True
    return not state or not theirs or os.path.dirname(theirs[0]) == os.path.dirname(state)

def channels(run):
    for name in addresses():
        if run is None or name.endswith("/" + run):
            try:
                channel = Channel(name)
            except OSError:
                continue
            if run or at or is_ours(channel):
                yield channel

def pending(run):
    for c in channels(run):
        answer = c.ask(op="list")
        if answer.get("ok"):
            for item in answer["items"]:
                yield c, item

def act(arguments):
    global at
    run, wait = None, 0
    while arguments and arguments[0].startswith("--"):
        option = arguments.pop(0)
        if option == "--run":
            run = arguments.pop(0)
        elif option == "--at":
            at = arguments.pop(0)
        elif option == "--wait":
            wait = int(arguments.pop(0))
    if at:
        try:
            Channel(at)
        except OSError:
            print(json.dumps({"ok": False, "code": "unreachable"}))
            return
    op, fields = arguments[0], dict((k, value(v)) for k, v in (a.split("=", 1) for a in arguments[1:]))
    end = time.time() + 60
    while wait and len(list(pending(run))) < wait and time.time() < end:
        time.sleep(0.05)
    if op in ("yes", "no", "view", "hold"):
        for c, item in pending(run):
            shown = c.ask(op="show", id=item["id"])
            if op == "hold":
                print(json.dumps(shown), flush=True)
                time.sleep(300)
            elif op == "view":
                print(json.dumps(shown))
            else:
                fields.setdefault("id", item["id"])
                if fields.get("challenge") == "typed":
                    fields["challenge"] = item["id"][-4:]
                print(json.dumps(c.ask(op="answer", yes=op == "yes", **fields)))
            return
        print(json.dumps({"ok": False, "code": "closed" if at else "nothing"}))
        return
    if op == "items":  # what `cordon approve --json` has, of these boxes
        print(json.dumps({"items": [item for _, item in pending(run)]}))
        return
    if op == "flood":  # each line of a file is a request, all over one connection
        c = next(channels(run))
        for line in open(fields["file"]):
            words = shlex.split(line)
            print(json.dumps(c.ask(op=words[0], **dict((k, value(v)) for k, v in (a.split("=", 1) for a in words[1:])))))
        return
    for c in channels(run):
        print(json.dumps(c.ask(op=op, **fields)))

arguments = sys.argv[1:]
if "--tty" in arguments:
    arguments.remove("--tty")
    pid, fd = pty.fork()
    if pid == 0:
        act(arguments)
        sys.exit(0)
    out = b""
    while True:
        try:
            got = os.read(fd, 65536)
        except OSError:
            break
        if not got:
            break
        out += got
    os.waitpid(pid, 0)
    sys.stdout.write(out.decode().replace("\r\n", "\n"))
else:
    act(arguments)
