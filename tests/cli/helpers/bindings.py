# SPDX-License-Identifier: MIT
"""The Python package as a program of somebody else uses it: prints `ok NAME` and `not ok NAME` lines."""
import asyncio
import doctest
import importlib
import os
import sys
import tempfile
import threading

import cordon


def expect(good, name):
    print("ok" if good else "not ok", name, flush=True)


def raised(kind, call):
    try:
        call()
    except kind as x:
        return x
    return None


def test_runs():
    with cordon.Box(time="60s") as box:
        r = box.run(["sh", "-c", "echo out; echo err >&2; exit 3"])
        expect((r.end, r.returncode, r.stdout, r.stderr, r.ok) == ("exited", 3, "out\n", "err\n", False), "a run has its end and its output")
        expect(box.run(["sh", "-c", "kill -9 $$"]).returncode == 137, "a signal is 128+n, as in a shell")
        expect(box.run(["cat"], input="text").stdout == "text", "text is passed as input")
        expect(box.run(["cat"], input=b"\0\xff", text=False).stdout == b"\0\xff", "so are bytes")
        expect(box.run(["cat"], input="x" * 3_000_000).stdout == "x" * 3_000_000, "large input and output do not block each other")
        x = raised(cordon.RunError, lambda: box.run(["sh", "-c", "cat /etc/shadow; exit 1"], check=True))
        expect(x is not None and x.result.returncode == 1 and any("/etc/shadow" in d.what for d in x.result.denials), "check raises, with what was denied")
        x = raised(cordon.RunError, lambda: box.run(["no-such-program"], check=True))
        expect(x is not None and x.result.returncode == 127 and "no-such-program" in str(x), "a missing program is said")
        expect(raised(TypeError, lambda: box.run("echo hello")) is not None, "a text is not a list of words")
    with cordon.Box(time="1s") as box:
        r = box.run(["sleep", "60"])
        expect((r.end, r.limit, r.returncode) == ("limit", "time", 124), "a limit ends a run, and is named")


def test_policy():
    x = raised(cordon.Error, lambda: cordon.Box(read=["/no/such/file"]).run(["true"]))
    expect(x is not None and "/no/such/file" in x.what and x.hint, "a bad door is an error with a hint")
    expect(raised(TypeError, lambda: cordon.Box(raed=["."])) is not None, "a misspelt door is refused")
    expect(raised(cordon.Error, lambda: cordon.Box(lines="raed .")) is not None, "so is one in a text of lines")
    with cordon.Box(read="/etc/hostname", env={"A": "b"}, lines="limit time 60s") as box:
        expect(box.allows("read /etc/hostname") and not box.allows("read /etc/shadow"), "decisions can be asked for")
        expect("/etc/hostname" in box.doors(), "so can the doors")
        expect(box.run(["sh", "-c", "echo $A"]).stdout == "b\n", "variables are set")


def test_edit(dir):
    path = os.path.join(dir, "file")
    with open(path, "w") as f:
        f.write("old\n")
    with cordon.Box(edit=dir) as box:
        r = box.run(["sh", "-c", "echo new >file"], cwd=dir)
        expect("+new" in r.diff() and open(path).read() == "old\n", "changes are held back, and shown")
        expect(r.apply() == 1 and open(path).read() == "new\n", "and applied")
        r = box.run(["sh", "-c", "echo newer >file"], cwd=dir)
        r.discard()
        expect(open(path).read() == "new\n", "or thrown away")


def test_session(dir):
    with cordon.Box(edit=dir, time="60s") as box:
        with box.session() as s:
            expect(s.run(["sh", "-c", "echo one >kept; echo two >/tmp/kept"], cwd=dir).ok, "a session runs a command")
            expect(s.run(["cat", "kept", "/tmp/kept"], cwd=dir).stdout == "one\ntwo\n", "the next one finds its files")
            expect(asyncio.run(s.run_async(["cat", "/tmp/kept"])).stdout == "two\n", "also in an event loop")
            expect(any("/etc/shadow" in d.what for d in s.run(["cat", "/etc/shadow"]).denials), "each has its own denials")
        expect("+one" in s.end().diff() and not os.path.exists(f"{dir}/kept"), "the session holds the changes back")
        s.end().apply()
        expect(open(f"{dir}/kept").read() == "one\n", "and they are applied")
        expect(raised(cordon.Error, lambda: s.run(["true"])) is not None, "a session that has ended runs nothing")
        left = box.session()
    expect(left._box is None, "closing a box ends its sessions")
    expect(raised(cordon.Error, lambda: cordon.Box(read=["/no/such/file"]).session()) is not None, "a session with a bad door does not start")


def test_streams():
    with cordon.Box(time="60s") as box:
        with box.start(["sh", "-c", "echo ready; cat >/dev/null; sleep 60"]) as run:
            for stream, data in run:
                expect((stream, data) == ("stdout", b"ready\n"), "output comes as it is written")
                run.kill()
                break
            expect(run.wait().returncode == 137, "a run can be killed")
        left = box.start(["sleep", "60"])
    expect(left._box is None, "closing a box ends its runs")


def test_threads():
    said = []

    def one(i):
        with cordon.Box(time="60s") as box:
            said.append(box.run(["echo", str(i)]).stdout)

    threads = [threading.Thread(target=one, args=(i,)) for i in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    expect(sorted(said) == [f"{i}\n" for i in range(4)], "boxes run in threads")


async def test_async():
    boxes = [cordon.Box(time="60s") for _ in range(4)]
    results = await asyncio.gather(*[b.run_async(["echo", str(i)]) for i, b in enumerate(boxes)])
    expect([r.stdout for r in results] == [f"{i}\n" for i in range(4)], "boxes run in one event loop")
    started = asyncio.Event()

    async def long():
        with boxes[0].start(["sh", "-c", "echo ready; sleep 60"]) as run:
            async for _ in run:
                started.set()

    task = asyncio.create_task(long())
    await started.wait()
    task.cancel()
    gone = await asyncio.gather(task, return_exceptions=True)
    expect(isinstance(gone[0], asyncio.CancelledError) and not boxes[0]._runs, "cancelling a task ends its box")
    [b.close() for b in boxes]


def test_page(page, dir):
    os.chdir(dir)
    names = {}
    exec(open(page).read().split("```python\n")[1].split("```")[0], names)
    expect(names["run_python"]("print(6*7)") == "42\n", "the function of the page for frameworks runs code")
    told = names["run_python"]("exit(3)")
    expect("exited with status 3" in told, "and tells how it ended")


test_runs()
test_policy()
test_edit(tempfile.mkdtemp(dir=sys.argv[1]))
test_session(tempfile.mkdtemp(dir=sys.argv[1]))
test_streams()
test_threads()
asyncio.run(test_async())
test_page(sys.argv[2], tempfile.mkdtemp(dir=sys.argv[1]))
for module in ("cordon", "cordon._box"):
    failed, tried = doctest.testmod(importlib.import_module(module))
    expect(tried > 0 and failed == 0, f"the {tried} examples of {module} are true")
