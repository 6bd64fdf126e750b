#!/usr/bin/env python3
"""bench/mcp.py CORDON [ROUNDS]: a tool call through `cordon mcp` beside `cordon run`, by itself and with a resident that parks boxes;
over HTTP beside standard streams; a call without a command; and what `cordon mcp wrap` adds to a call.
Interleaved; medians, first deciles and 99th percentiles in milliseconds: on a busy machine only the deciles say something."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "cli", "helpers"))
sys.dont_write_bytecode = True
from mcp_client import Client  # noqa: E402
from mcp_http_client import HttpClient  # noqa: E402

CORDON, ROUNDS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 200
EVIL = os.path.abspath(os.path.join(HERE, "..", "tests", "cli", "helpers", "mcp_evil.py"))


def timed(work):
    before = time.perf_counter()
    work()
    return (time.perf_counter() - before) * 1000


def compare(name, **works):
    times = {key: [] for key in works}
    for _ in range(ROUNDS):
        for key, work in works.items():
            times[key].append(timed(work))
    for what, pick in (("median", statistics.median), ("p10", lambda v: statistics.quantiles(v, n=10)[0]), ("p99", lambda v: statistics.quantiles(v, n=100)[98])):
        picked = {key: pick(v) for key, v in times.items()}
        first, second = picked.values()
        print(f"{name}, {what}: " + ", ".join(f"{k} {v:.3f}" for k, v in picked.items()) + f"; difference {second - first:+.3f} ms")


with tempfile.TemporaryDirectory() as state:
    os.environ["CORDON_STATE"] = os.path.join(state, "state")
    plain = Client(["python3", EVIL], modern=False)
    boxed = Client([CORDON, "mcp", "wrap", "--read", EVIL, "--calls", "1000000", "--", "python3", EVIL], modern=False)
    boxed.request("tools/list")
    for c in plain, boxed:
        assert c.call("echo", text="x")["content"][0]["text"] == "x"
    compare("wrap, one call", direct=lambda: plain.call("echo", text="x"), wrapped=lambda: boxed.call("echo", text="x"))
    plain.end()
    boxed.end()
    run = lambda: subprocess.run([CORDON, "run", "-q", "--", "/bin/true"], stdin=subprocess.DEVNULL, check=True)  # noqa: E731

    def calls(title, server):
        session = server.data("session_new")["session"]
        compare(title + ", a new box", run=run, call=lambda: server.call("run_command", argv=["/bin/true"]))
        compare(title + ", in a session", run=run, call=lambda: server.call("run_command", argv=["/bin/true"], session=session))

    server, http = Client([CORDON, "mcp"]), HttpClient([CORDON, "mcp"])
    calls("mcp", server)
    compare("mcp, without a command", lines=lambda: server.call("doors"), http=lambda: http.call("doors"))
    compare("mcp, a new box by HTTP", lines=lambda: server.call("run_command", argv=["/bin/true"]),
            http=lambda: http.call("run_command", argv=["/bin/true"]))
    resident = subprocess.Popen([CORDON, "serve", "--auto"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    resident.stderr.readline()
    for _ in range(5):  # until boxes are parked
        run()
        server.call("run_command", argv=["/bin/true"])
    calls("mcp with a resident", server)
    server.end()
    http.end()
    resident.terminate()
    resident.wait()
