"""`cordon mcp --http` as clients see it, and as those who must not be served. Prints `ok` and `not ok` lines for
t8005-mcp-http.sh. mcp_http.py CORDON WORKSPACE"""
import json
import os
import socket
import subprocess
import sys
import urllib.parse

from mcp_client import VERSION, CAPABILITIES
from mcp_http_client import HttpClient

CORDON, WORK = sys.argv[1:3]
SERVER = [CORDON, "mcp", "--edit", ".", "--work", WORK]
META = {VERSION: "2026-07-28", CAPABILITIES: {}}
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def expect(name, good, got=""):
    print(f"ok {name}" if good else f"not ok {name} ({str(got)[:600]})", flush=True)


def test_modern():
    c = HttpClient(SERVER)
    expect("the token file is for this user only", os.stat(c.file).st_mode & 0o777 == 0o600)
    found = c.request("server/discover")["result"]
    expect("discover over HTTP", found["supportedVersions"] == ["2026-07-28", "2025-11-25"] and c.session is None, found)
    got = c.call("run_command", command="echo out; exit 3", token="p")
    expect("a call with progress is a stream", got["structuredContent"]["status"] == 3 and c.notes, got)
    got = c.call("run_command", command="echo plain")
    expect("a call without is JSON", got["structuredContent"]["stdout"] == "plain\n", got)
    one = c.begin("tools/call", {"name": "run_command", "arguments": {"command": "echo one; sleep 600"}})
    two = c.begin("tools/call", {"name": "run_command", "arguments": {"command": "echo two"}})
    expect("calls run side by side", c.wait(two)["result"]["structuredContent"]["stdout"] == "two\n")
    c.open.pop(one).close()
    s = c.data("session_new")["session"]
    c.data("write_file", session=s, path="f", content="x")
    expect("a box outlives its connection", c.data("read_file", session=s, path="f")["content"] == "x")
    expect("an unknown method is 404", c.request("tools/nothing")["error"]["code"] == -32601 and c.status == 404)
    expect("an unknown tool is 400", c.call("rm")["error"]["code"] == -32602 and c.status == 400)
    for name, wrong in (("Mcp-Method", "tools/call"), ("Mcp-Method", None), ("MCP-Protocol-Version", "2025-11-25"),
                        ("Mcp-Name", "doors"), ("Mcp-Method", "TOOLS/LIST")):
        head = {k: v for k, v in {**c.headers(LIST), name: wrong}.items() if v}
        r = c.post(LIST, head).answer()
        body = json.loads(r.read())
        expect(f"{name} {wrong} is refused", (r.status, body["error"]["code"]) == (400, -32020), body)
    call = {**LIST, "method": "tools/call", "params": {"name": "doors", "_meta": META}}
    r = c.post(call, {**c.headers(call), "Mcp-Name": "=?base64?ZG9vcnM=?="}).answer()
    expect("a name in Base64 is the same", r.status == 200, r.read())
    r = c.post(call, {**c.headers(call), "Mcp-Name": "=?base64?ZG9vcnM?="}).answer()
    expect("unless it is malformed", r.status == 400, r.read())
    expect("GET and DELETE are not of this era", [c.http(m, headers=c.headers()).answer().status for m in ("GET", "DELETE")] == [405, 405])
    expect("a notification is accepted", c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}) == 202)
    expect("SIGTERM ends it", c.end() == 0)


def test_legacy():
    c = HttpClient(SERVER, modern=False, elicits=True)
    expect("initialize gives a session", c.session and len(c.session) == 35, c.session)
    got = c.call("run_command", command="echo old", token=7)
    expect("a call with progress", got["structuredContent"]["stdout"] == "old\n" and c.notes and "resultType" not in got, got)
    other = HttpClient(url=c.url, token=c.token, modern=False)
    expect("sessions differ", other.session != c.session)
    one = c.begin("tools/call", {"name": "run_command", "arguments": {"command": "sleep 600"}})
    expect("an id is the session's own", other.call("run_command", command="echo x")["structuredContent"]["stdout"] == "x\n")
    other.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
    c.open[one].sock.settimeout(0.3)
    try:
        c.open[one].sock.recv(1)
        expect("another session cannot cancel it", False)
    except socket.timeout:
        expect("another session cannot cancel it", True)
    c.open[one].sock.settimeout(60)
    c.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": one}})
    expect("a cancelled call has no answer", c.open.pop(one).sock.recv(1) == b"")
    get = c.http("GET", headers=c.headers())
    answer = get.answer()
    expect("a session has one stream", (answer.status, answer.getheader("Content-Type")) == (200, "text/event-stream"))
    expect("and no second", c.http("GET", headers=c.headers()).answer().status == 409)
    s = c.data("session_new")["session"]
    c.data("write_file", session=s, path="agreed", content="new\n")
    c.answer = {"action": "accept", "content": {"apply": True}}
    got = c.call("propose_apply", session=s)
    expect("a person is asked by an event, and answers by a POST", c.asked and os.path.exists(WORK + "/agreed"), got)
    c.modern = True
    expect("the newer era is served beside it", c.request("server/discover")["result"]["resultType"] == "complete")
    c.modern = False
    expect("a version of neither era is refused",
           c.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {**c.headers(), "MCP-Protocol-Version": "1999-01-01"}).answer().status == 400)
    expect("DELETE ends a session", c.http("DELETE", headers=c.headers()).answer().status == 200 and answer.read() == b"")
    expect("which is unknown then", c.send({"jsonrpc": "2.0", "method": "notifications/initialized"}) == 404)
    c.session = None
    expect("and a request needs one", c.send({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}) == 400)
    expect("SIGTERM ends it in order", c.end() == 0)


def status_of(at, data):
    s = socket.create_connection((at.hostname, at.port), timeout=60)
    s.sendall(data)
    got = s.makefile("rb").readline()
    s.close()
    return int(got.split()[1]) if got else 0


def test_refused():
    """Nothing of these is served; the server goes on."""
    c = HttpClient(SERVER)
    at = urllib.parse.urlsplit(c.url)
    good = c.headers(LIST)
    rows = [("no token", {"Authorization": None}, 401), ("a wrong token", {"Authorization": "Bearer " + 64 * "0"}, 401),
            ("half a token", {"Authorization": "Bearer " + c.token[:32]}, 401), ("another scheme", {"Authorization": "Basic " + c.token}, 400),
            ("a name bound to this address", {"Host": f"evil.example:{at.port}"}, 403), ("another port", {"Host": "localhost:1"}, 403),
            ("a page of another site", {"Origin": "http://evil.example"}, 403), ("a page of another port", {"Origin": "http://localhost:1"}, 403),
            ("no origin at all", {"Origin": "null"}, 403), ("a form of a page", {"Content-Type": "text/plain"}, 415),
            ("a file of a form", {"Content-Type": "multipart/form-data"}, 415)]
    for name, change, status in rows:
        head = {k: v for k, v in {**good, **change}.items() if v is not None}
        got = c.post(LIST, head).answer().status
        expect(f"{name} is refused", got == status, got)
    own = f"http://{at.hostname}:{at.port}"
    expect("its own page is served", c.post(LIST, {**good, "Origin": own}).answer().status == 200)
    expect("another path", c.http("POST", b"{}", good, "/").answer().status == 404)
    r = c.http("POST", b"{}", {"Content-Type": "application/json"}).answer()
    expect("without a token the answer says what is needed", "token" in json.loads(r.read())["error"]["message"])
    expect("a token in the query is none", c.http("POST", b"{}", {"Content-Type": "application/json"}, "/mcp?token=" + c.token).answer().status == 401)
    head = "".join(f"{k}: {v}\r\n" for k, v in good.items()).encode()
    first = b"POST /mcp HTTP/1.1\r\nHost: " + at.netloc.encode() + b"\r\n" + head
    raw = [("a body that is too long", first + b"Content-Length: 99999999\r\n\r\n", 413),
           ("two lengths", first + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", 400),
           ("a length and chunks", first + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
           ("two tokens", first + b"Authorization: Bearer x\r\nContent-Length: 2\r\n\r\n{}", 400),
           ("two methods", first + b"Mcp-Method: x\r\nContent-Length: 2\r\n\r\n{}", 400),
           ("not JSON", first + b"Content-Length: 2\r\n\r\n{x", 400), ("a batch", first + b"Content-Length: 2\r\n\r\n[]", 400),
           ("nothing", first + b"Content-Length: 0\r\n\r\n", 400), ("a bad chunk", first + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
           ("another method", first.replace(b"POST", b"PATCH", 1) + b"\r\n", 405), ("not HTTP", b"\x16\x03\x01\r\n\r\n", 400),
           ("a head without an end", b"GET /mcp HTTP/1.1\r\nX: " + b"a" * 70000 + b"\r\n\r\n", 431)]
    for name, data, status in raw:
        try:
            got = status_of(at, data)
        except ConnectionError as e:
            got = e
        expect(f"{name} is refused", got == status or (status == 431 and got in (400, 413, 431)), got)
    body = json.dumps(LIST).encode()
    two = first + b"Content-Length: %d\r\n\r\n" % len(body) + body
    s = socket.create_connection((at.hostname, at.port), timeout=60)
    s.sendall(two + two)
    got = b""
    while got.count(b"HTTP/1.1 200 OK") < 2 and (more := s.recv(65536)):
        got += more
    expect("requests one behind the other have their answers", got.count(b"HTTP/1.1 200 OK") == 2, got)
    idle = [socket.create_connection((at.hostname, at.port), timeout=60) for _ in range(100)]
    expect("who says nothing keeps nobody out", c.call("run_command", command="echo on")["structuredContent"]["stdout"] == "on\n")
    for i in idle:
        i.close()
    got = c.call("run_python", code=f"import socket\ntry: print(socket.create_connection(('127.0.0.1', {at.port}), 5))\nexcept OSError: print('no way')")
    expect("a box cannot reach it", got["structuredContent"]["stdout"] == "no way\n", got)
    expect("nor its token", c.token not in json.dumps(c.call("run_command", command=f"cat {c.file}; env; cat /proc/*/cmdline")))
    with open(f"/proc/{c.process.pid}/cmdline", encoding="ascii") as f:
        expect("which is on no command line", c.token not in f.read())
    again = subprocess.run([*SERVER, "--http", at.netloc, "--token-file", c.file], capture_output=True, text=True, check=False)
    expect("a second server does not take the port", again.returncode == 125, again)
    expect("it ends well", c.end() == 0)


def test_token_files():
    path = WORK + "/../token"
    for name, make in (("that others may read", lambda: os.chmod(path, 0o644)), ("that is short", lambda: open(path, "w", encoding="ascii").write("x"))):
        if os.path.exists(path):
            os.remove(path)
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        with open(path, "w", encoding="ascii") as f:
            f.write("a" * 64)
        make()
        got = subprocess.run([*SERVER, "--http", "127.0.0.1:0", "--token-file", path], capture_output=True, text=True, check=False, timeout=60)
        expect(f"a token file {name} is refused", got.returncode == 125, got)
    for wrong in ("0.0.0.0:0", "192.0.2.1:0", "example.org:80", "127.0.0.1"):
        got = subprocess.run([*SERVER, "--http", wrong, "--token-file", path], capture_output=True, text=True, check=False, timeout=60)
        expect(f"--http {wrong} is refused", got.returncode == 125, got)
    os.remove(path)


for test in [test_modern, test_legacy, test_refused, test_token_files]:
    test()
