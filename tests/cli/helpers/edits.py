# Random edits below a directory, the same for the same seed wherever they run: edits.py make|edit DIR SEED COUNT
# `make` fills an empty directory; `edit` changes it and says what each step answered.
import os, random, sys

verb, top, seed, count = sys.argv[1], sys.argv[2].encode(), sys.argv[3], int(sys.argv[4])
r = random.Random(verb + seed)
os.umask(0o022)
NAMES = [b"a", b"b", b"deep", b"x y", b"new\nline", b"caf\xc3\xa9", b"\xff\xfe", b'q"u', b"back\\slash", b"-dash", b".hid",
         b"long" * 20, b"Makefile", b"run.sh"]


def walk():
    out = []
    for base, dirs, files in os.walk(top):
        dirs.sort()
        for n in sorted(dirs + files):
            out.append(os.path.join(base, n))
    return sorted(out)


def is_dir(p):
    return os.path.isdir(p) and not os.path.islink(p)


def content():
    kind = r.randrange(5)
    if kind == 0:
        return b""
    if kind == 1:
        return bytes(r.randrange(256) for _ in range(r.randrange(300)))
    text = b"".join(b"line %d\n" % r.randrange(20) for _ in range(r.randrange(60)))
    return text + (b"no newline" if kind == 2 else b"")


def write(p, data):  # a name of its own: a file with two names is not changed in place
    q = p + b".tmp"
    with open(q, "wb") as f:
        f.write(data)
    os.rename(q, p)


def sparse(p):
    with open(p + b".tmp", "wb") as f:
        f.write(b"begin")
        f.seek(r.randrange(1, 40) * 65536)
        f.write(b"end")
        f.truncate(f.tell() + 100000)
    os.rename(p + b".tmp", p)


def remove(p):
    if is_dir(p):
        os.chmod(p, 0o755)
        for n in sorted(os.listdir(p)):
            remove(os.path.join(p, n))
        os.rmdir(p)
    else:
        os.unlink(p)


def move(a, b):  # a directory of the lower layer cannot be renamed in an overlay: move as mv does
    if not is_dir(a):
        os.rename(a, b)
        return
    mode = os.stat(a).st_mode & 0o777
    os.mkdir(b)
    os.chmod(a, 0o755)
    for n in sorted(os.listdir(a)):
        move(os.path.join(a, n), os.path.join(b, n))
    os.rmdir(a)
    os.chmod(b, mode | 0o700)


def fresh(places):
    return os.path.join(r.choice(places), r.choice(NAMES) + (b"%d" % r.randrange(30) if r.random() < 0.6 else b""))


def one(files, places, linked):
    p = r.choice(files) if files else None
    f, k = fresh(places), r.randrange(16)
    if k <= 2:
        write(f, content())
    elif k == 3:
        os.mkdir(f)
    elif k == 4:
        os.symlink(r.choice([b"a", b"../x", b"/etc/passwd", b"missing", b"deep/b"]), f)
    elif k == 5:
        sparse(f)
    elif k == 6 and p:
        remove(p)
    elif k == 7 and p and not (f + b"/").startswith(p + b"/"):
        move(p, f)
    elif k == 8 and p and not os.path.islink(p) and p not in linked:
        os.chmod(p, r.choice([0o755, 0o700, 0o711] if is_dir(p) else [0o644, 0o600, 0o755, 0o640]))
    elif k == 9 and p and not os.path.islink(p) and p not in linked:
        os.setxattr(p, b"user.test%d" % r.randrange(3), b"v%d" % r.randrange(9))
    elif k == 10 and p and os.path.isfile(p) and not os.path.islink(p) and p not in linked:
        with open(p, "r+b") as h:
            h.seek(r.randrange(200))
            h.write(content()[:50])
    elif k == 11 and p and os.path.isfile(p) and not os.path.islink(p) and p not in linked:
        os.truncate(p, r.randrange(400))
    elif k == 12 and p:  # another kind under the same name
        remove(p)
        r.choice([lambda: os.mkdir(p), lambda: write(p, content()), lambda: os.symlink(b"a", p)])()
    elif k == 13:  # one file, two names, both new (a box's copy of the host's own pair would be two files)
        write(f, content())
        g = fresh(places)
        if verb == "edit":
            os.link(f, g)
            linked.update((f, g))
    elif k == 14 and p and is_dir(p):  # all of it gone and made anew
        remove(p)
        os.mkdir(p)
        write(os.path.join(p, b"again"), content())
    elif k == 15 and p and os.path.isfile(p) and not os.path.islink(p) and verb == "edit":  # a second name of what was there
        os.link(p, f)
        linked.update((p, f))


linked = set()
for i in range(count):
    files = walk()
    places = [top] + [p for p in files if is_dir(p) and p.count(b"/") - top.count(b"/") < 6]
    try:
        one(files, places, linked)
        print(i, "ok")
    except OSError as x:
        print(i, "error", x.errno)
