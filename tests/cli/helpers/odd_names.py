#!/usr/bin/env python3
# odd_names.py make|change - a tree in the working directory whose names and contents look like parts of a patch, of a command or
# of a terminal's language; and every change that a patch can hold.
import os, shutil, sys

NAMES = [b"plain", b"sp ace", b" lead", b"trail ", b"tab\there", b"nl\nx", b'q"uote', b"back\\slash", b"\xff\xfebad", b"\xe2\x80\xaebidi",
         b"a -> b", b"--- a", b"+++ b", b"diff --git a b", b"-dash", b"esc\x1b[31m", b"d/in dir", b"{a,b}", b"*", b"$(id)", b'"',
         b"a/b/c/deep", b"timestamp\t2020-01-01", b"cr\rx", b"~", b"#hash", b"@@ -1 +1 @@", b"\x01"]


def put(name, data):
    if os.path.dirname(name):
        os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        f.write(data)


def make():
    for i, n in enumerate(NAMES):
        put(n, b"one\ntwo %d\nthree\n" % i)
    put(b"d/stays", b"x\n")
    put(b"bin", bytes(range(256)) * 40), put(b"gone-bin", b"\0\1\2"), put(b"noeol", b"x\ny"), put(b"crlf", b"a\r\nb\r\n")
    put(b"empty", b""), put(b"tobe-empty", b"z\n"), put(b"to-link", b"q"), put(b"to-dir", b"q\n"), put(b"dir-to-file/sub/f", b"q\n")
    put(b"mode", b"m\n"), put(b"mode2", b"m\n"), os.chmod("mode2", 0o755), put(b"ren", b"content of renamed\n" * 5), put(b"mv/x/1", b"one1\n")
    put(b"big", b"".join(b"line %d\n" % i for i in range(20000)))
    for target, name in ("plain", "ln"), ("nowhere/at\nall", "ln2"), ("x", "ln-gone"), ("plain", "to-file"):
        os.symlink(target, name)


def change():
    for i, n in enumerate(NAMES):
        if i % 3 == 0:
            with open(n, "ab") as f:
                f.write(b"--- a/x\n+++ b/x\n@@ -1 +1 @@\nmore\n")
        elif i % 3 == 1:
            os.unlink(n)
        else:
            put(n, b"--- start\none\nTWO\n"), put(n + b".new", b"-- \nnew\n")
    put(b"bin", b"changed\0" + bytes(range(256)) * 39), os.unlink("gone-bin"), put(b"new-bin", bytes(i * i % 251 for i in range(70000)))
    put(b"noeol", b"x\nyz"), put(b"crlf", b"a\r\nb\r\nc\r\n"), put(b"empty", b"now\n"), put(b"tobe-empty", b""), put(b"new-empty", b"")
    for target, name in ("bin", "ln"), ("other\nline", "ln2"), ("plain", "to-link"):
        os.unlink(name), os.symlink(target, name)
    os.unlink("ln-gone"), os.unlink("to-file"), put(b"to-file", b"file\n"), os.unlink("to-dir"), put(b"to-dir/x", b"x\n")
    shutil.rmtree("dir-to-file"), put(b"dir-to-file", b"f\n"), os.chmod("mode", 0o755), os.chmod("mode2", 0o644)
    os.rename("ren", "ren2"), os.rename("mv/x/1", "mv/2"), os.rmdir("mv/x")
    text = open("big").readlines()
    text[100], text[15000] = "CHANGED\n", "ALSO\n"
    del text[9000:9010]
    put(b"big", "".join(text).encode())


{"make": make, "change": change}[sys.argv[1]]()
