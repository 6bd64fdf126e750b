"""remote.py URL TOKEN - the Python package against a server, and how it behaves locally besides."""
import asyncio, os, sys, time
import cordon

url, token = sys.argv[1:3]
def ok(what, good, said=""):
    print(f"{'ok' if good else 'not ok'} {what}{'' if good else f' ({said})'}", flush=True)
def fails(call, code):
    try:
        call()
    except cordon.Error as e:
        return e.code == code or e.code
    return "nothing"

with cordon.Box(url=url, token=token, labels={"from": "py"}, env={"E": "a b"}) as box:
    ok("it is a Box", isinstance(box, cordon.Box))
    r = box.run(["sh", "-c", "cat; echo $E; echo oops >&2; exit 3"], input="in ")
    ok("a run", (r.stdout, r.stderr, r.returncode, r.end, r.ok) == ("in a b\n", "oops\n", 3, "exited", False), r)
    ok("bytes", box.run(["cat"], input=b"\xff\0x", text=False).stdout == b"\xff\0x")
    ok("pieces", b"".join(d for s, d in box.start(["sh", "-c", "echo 1; echo 2"]) if s == "stdout") == b"1\n2\n")
    long = box.run(["seq", "200000"]).stdout
    ok("long output is whole", len(long) == 1288895 and long.endswith("\n200000\n"), len(long))
    d = box.run(["curl", "-s", "http://example.com"]).denials
    ok("denials", any(x.permit == "net example.com:80" and x.code == "net" for x in d), d)
    try:
        box.run(["false"], check=True)
        ok("check", False)
    except cordon.RunError as e:
        ok("check", e.result.returncode == 1)
    run = box.start(["sleep", "60"])
    run.kill()
    ok("kill", run.wait().end == "cancelled", run.wait())
    ok("its doors", "reachable" in box.doors())
    ok("no explanations", fails(lambda: box.why("read /"), "usage") is True)
ok("a wrong token", fails(lambda: cordon.Box(url=url, token="x").run(["true"]), "token") is True)
ok("a policy that is not there", fails(lambda: cordon.Box(url=url, token=token, policy="none-such").run(["true"]), "usage") is True)
ok("no server", fails(lambda: cordon.Box(url="unix:/nowhere/x", token=token).run(["true"]), "host") is True)

with cordon.Box(url=url, token=token, policy="ed") as box:
    r = box.run(["sh", "-c", "echo new >made"])
    ok("changes", bool(r.work) and "made" in r.diff(), r.raw)
    ok("apply", r.apply() == 1)
    r2 = box.run(["sh", "-c", "echo newer >made"])
    r2.discard()
    ok("discard", fails(r2.diff, "gone") != "nothing")
    with box.session() as s:
        s.run(["sh", "-c", "echo kept >/tmp/x"])
        ok("a session keeps", s.run(["cat", "/tmp/x"]).stdout == "kept\n")
        end = s.end()
    ok("and ends", end.raw["state"] == "ended", end.raw)
with cordon.Box(url=url, token=token, read="{work}", use="base/system", time=30) as box:
    ok("doors within the ceiling", box.run(["echo", "x"]).stdout == "x\n")

async def main():
    async with cordon.Box(url=url, token=token) as box:
        rs = await asyncio.gather(*(box.run_async(["sh", "-c", f"sleep 0.2; echo {i}"]) for i in range(4)))
        ok("asyncio", [r.stdout for r in rs] == ["0\n", "1\n", "2\n", "3\n"], rs)
        async with box.session() as s:
            ok("async with", (await s.run_async(["echo", "s"])).stdout == "s\n")
        task = asyncio.create_task(box.run_async(["sleep", "60"]))
        await asyncio.sleep(1)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            ok("cancelling ends it", True)
asyncio.run(main())

with cordon.Box(time=1) as box:
    ok("locally a number is seconds", box.run(["sleep", "30"]).limit == "time")
with cordon.Box(time="20s", write=[os.getcwd()]) as box:
    run = box.start(["sh", "-c", "echo it >began"])
    for _ in range(100):
        if os.path.exists("began"):
            break
        time.sleep(0.05)
    ok("start() starts, though nobody waits", os.path.exists("began"))
    ok("and its result follows", run.wait().ok)
async def local():
    async with cordon.Box(time="20s") as box, box.session() as s:
        ok("async with, locally", (await s.run_async(["echo", "l"])).stdout == "l\n")
asyncio.run(local())
