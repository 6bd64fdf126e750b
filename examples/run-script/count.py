# SPDX-License-Identifier: MIT
"""Counts words in the files of a directory. A stranger wrote it, so it also looks around a little."""
import os
import pathlib
import socket
import sys


def attempt(what, action):
    try:
        action()
        print(f"{what}: it can")
    except OSError as e:
        print(f"{what}: {e.strerror}")


for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    print(f"{path.name}: {len(path.read_text(encoding='utf-8').split())} words")
attempt("write beside the data", lambda: open(os.path.join(sys.argv[1], "mark"), "w", encoding="ascii"))
attempt("read the key in " + sys.argv[2], lambda: open(sys.argv[2] + "/.ssh/id_ed25519", encoding="ascii"))
attempt("call home", lambda: socket.create_connection(("127.0.0.1", 9)))
