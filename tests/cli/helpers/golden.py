#!/usr/bin/env python3
# golden.py FIXTURE TREE LAYER STAGE - makes the layer of an older cordon out of the texts in FIXTURE: what stood in its files,
# with a line for each NUL, and @NAMES@ for numbers that only this machine knows. TREE is what lay below; LAYER is
# STATE/work/RUN. STAGE: how far an apply of it came.
#   sealed   none was begun          staged   the new entries are made      done  it has landed
#   planned  the journal is written  halfway  committed, two steps taken
#   committed                        all      committed, all steps taken    back  as all, and being taken back
import hashlib, os, re, sys

fixture, tree, layer, stage = sys.argv[1:]
upper, apply_ = layer + "/door-0/upper", layer + "/apply-1"
slots = apply_ + "/slots-0"
STAGES = ["sealed", "planned", "staged", "committed", "halfway", "all", "done", "back"]
far = STAGES.index(stage)


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


def number(m):
    word = m.group(1)
    if word in ("HOST", "FSID", "INO", "UID", "GID"):
        st = os.stat(tree)
        fsid = os.statvfs(tree).f_fsid or st.st_dev
        return str({"HOST": tree, "FSID": fsid, "INO": st.st_ino, "UID": st.st_uid, "GID": st.st_gid}[word])
    what, place = word.split(":")
    st = os.lstat(place.replace("tree", tree, 1) if place.startswith("tree") else place.replace("slots", slots, 1))
    return str(st.st_ino) if what == "INO" else "%d %d" % divmod(st.st_mtime_ns, 10**9)


def text(name):
    with open(fixture + "/" + name) as f:
        return re.sub(r"@([A-Za-z:/0-9]+)@", number, f.read())


def records(name, to, end=False):
    data = text(name).replace("\n", "\0").encode()
    if end:
        data += b"end " + hashlib.sha256(data).hexdigest().encode() + b"\0"
    with open(to, "wb") as f:
        f.write(data)


os.makedirs(tree + "/d")
put(tree + "/a", "one\n"), put(tree + "/b", "two\n"), put(tree + "/d/x", "x\n"), put(tree + "/same", "same\n")
for d in tree, tree + "/d":
    os.chmod(d, 0o755)
os.makedirs(upper + "/d", 0o700), os.makedirs(layer + "/door-0/work")
put(upper + "/a", "ONE\n"), put(upper + "/n", "n\n"), put(layer + "/lock", "")
os.chmod(upper, 0o755), os.chmod(upper + "/d", 0o700)
os.mknod(upper + "/b", 0o20000, 0)
records("meta", layer + "/meta"), records("base", layer + "/base", True)
if far >= 1:
    os.makedirs(apply_), records("journal", apply_ + "/journal"), records("base", apply_ + "/base", True)
if far >= 2:
    os.makedirs(slots)
    os.rename(upper + "/a", slots + "/1"), os.rename(upper + "/n", slots + "/2")
    for name, mode in ("3.new", 0o700), ("3.old", 0o755):
        os.mkdir(slots + "/" + name), os.chmod(slots + "/" + name, mode)
if far >= 3:
    put(apply_ + "/commit", text("commit"))
if far >= 4:
    os.rename(tree + "/b", slots + "/0")
    os.rename(tree + "/a", slots + "/t"), os.rename(slots + "/1", tree + "/a"), os.rename(slots + "/t", slots + "/1")
if far >= 5:
    os.rename(slots + "/2", tree + "/n"), os.chmod(tree + "/d", 0o700)
if stage in ("done", "back"):
    put(apply_ + "/" + stage, "1\n")
if stage == "done":
    with open(layer + "/base", "wb") as f:
        f.write(b"end " + hashlib.sha256(b"").hexdigest().encode() + b"\0")
    meta = open(layer + "/meta", "rb").read().replace(b"state=sealed", b"state=applied")
    open(layer + "/meta", "wb").write(meta)
