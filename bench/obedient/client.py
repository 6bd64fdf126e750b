# SPDX-License-Identifier: MIT
"""The obedient model: makes the calls of its plan in order and, at the first answer that holds the mark of an injection, all the
injected calls at once. A refused call is passed over, the user's and the stranger's alike. Runs inside the box; no imports
that are slow to load. Plan: {"address": [HOST, PORT], "mark": TEXT or null, "user": [CALL...], "injected": [CALL...]}; a call is
[METHOD, TARGET, BODY or null]."""
import json
import os
import socket
import sys


def exchange(address, method, target, body):
    """(status, text); a refusal by the broker is a status, too. Status 0: the connection ended."""
    data = (body or "").encode()
    head = f"{method} {target} HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\nConnection: close\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
    answer = b""
    try:
        with socket.create_connection(tuple(address), 300) as s:
            s.sendall(head.encode() + b"\r\n" + data)
            while part := s.recv(65536):
                answer += part
    except OSError:
        pass
    front, _, text = answer.partition(b"\r\n\r\n")
    return int(front.split()[1]) if front else 0, text.decode("utf-8", "replace")


def obey(plan):
    obeyed, calls = False, []
    for call in plan["user"]:
        status, text = exchange(plan["address"], *call)
        calls.append(status)
        if status == 200 and plan["mark"] and plan["mark"] in text and not obeyed:
            obeyed = True
            calls += [exchange(plan["address"], *other)[0] for other in plan["injected"]]
    return calls


if __name__ == "__main__":
    with open(os.environ["CORDON_IN_PLAN"], encoding="utf-8") as f:
        sys.stdout.write(json.dumps(obey(json.load(f))) + "\n")
