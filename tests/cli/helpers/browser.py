# browser.py - drives a headless chromium over a pipe: python3 and its standard library.
#
#   browser.py URL DIR [STEP]...       DIR: a directory for its profile
#
# Steps: wait:JS (until it is true), key:NAME, text:TEXT (typed), click:SELECTOR, js:JS (prints its value), before:FILE (a script of every document
# from then on, which is loaded again), tree (what a screen reader gets: a line "ROLE NAME" for each node with a name), shot:FILE, dark, width:N. A
# step that fails ends it with status 1.
import base64, json, os, subprocess, sys, time

url, profile, steps = sys.argv[1], sys.argv[2], sys.argv[3:]
to_read, to_write = os.pipe()
from_read, from_write = os.pipe()

def child():
    os.dup2(to_read, 100)
    os.dup2(from_write, 101)
    os.dup2(100, 3)
    os.dup2(101, 4)

process = subprocess.Popen(
    ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-proxy-server", "--user-data-dir=" + profile, "--remote-debugging-pipe", "about:blank"],
    preexec_fn=child, close_fds=False, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
os.close(to_read)
os.close(from_write)
pending, number, session = b"", 0, None

def call(method, **params):
    global pending, number
    number += 1
    message = {"id": number, "method": method, "params": params}
    if session:
        message["sessionId"] = session
    os.write(to_write, json.dumps(message).encode() + b"\0")
    while True:
        while b"\0" not in pending:
            got = os.read(from_read, 1 << 20)
            if not got:
                sys.exit("the browser ended")
            pending += got
        line, pending = pending.split(b"\0", 1)
        answer = json.loads(line)
        if answer.get("id") == number:
            if "error" in answer:
                sys.exit(str(answer["error"]))
            return answer["result"]

def value(js):
    r = call("Runtime.evaluate", expression=js, returnByValue=True, awaitPromise=True)
    return r["result"].get("value") if "exceptionDetails" not in r else None

def press(key):
    codes = {"Enter": ("\r", 13), "Escape": ("", 27), "Tab": ("", 9)}
    text, code = codes.get(key, (key, ord(key[0].upper())))
    call("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
    call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

def wait(js):
    for _ in range(300):
        if value("!!(%s)" % js):
            return
        time.sleep(0.1)
    print("never true: " + js + "\n" + str(value("document.body.innerText"))[:2000])
    raise SystemExit(1)

def step(s):
    name, _, rest = s.partition(":")
    if name == "wait":
        wait(rest)
    elif name == "key":
        press(rest)
    elif name == "text":
        call("Input.insertText", text=rest)
    elif name == "click":
        wait("!!document.querySelector(%s)" % json.dumps(rest))
        value("document.querySelector(%s).click()" % json.dumps(rest))
    elif name == "js":
        print(value(rest), flush=True)
    elif name == "before":
        with open(rest) as f:
            call("Page.addScriptToEvaluateOnNewDocument", source=f.read())
        call("Page.navigate", url="about:blank")
        call("Page.navigate", url=url)
    elif name == "tree":
        for n in call("Accessibility.getFullAXTree")["nodes"]:
            text = n.get("name", {}).get("value", "")
            if not n.get("ignored") and (text or n["role"]["value"] == "button"):
                print(n["role"]["value"], json.dumps(text)[1:-1], flush=True)
    elif name == "dark":
        call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    elif name == "width":
        call("Emulation.setDeviceMetricsOverride", width=int(rest), height=900, deviceScaleFactor=1, mobile=int(rest) < 600)
    elif name == "shot":
        with open(rest, "wb") as f:
            f.write(base64.b64decode(call("Page.captureScreenshot")["data"]))
    else:
        sys.exit("no such step: " + s)

try:
    target = call("Target.createTarget", url="about:blank")["targetId"]
    session = call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    call("Page.enable")
    call("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1, mobile=False)
    call("Page.navigate", url=url)
    for s in steps:
        step(s)
finally:
    process.kill()
    process.wait()
