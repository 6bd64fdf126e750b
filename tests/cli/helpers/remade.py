# Random edits that remove directories and make them again, or rename them into place; the same for the same seed wherever they
# run: remade.py make|edit|host DIR SEED COUNT [OTHER]. `host` adds the same files to two trees.
import os, random, sys

verb, top, seed, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
r = random.Random(verb + seed)
os.umask(0o022)
FILES = ["a", "b", "c", "Makefile", ".envrc"]
DIRS = ["d", "e", "f"]


def walk():
    out = []
    for base, dirs, files in os.walk(top):
        dirs.sort()
        out += [os.path.join(base, n) for n in sorted(dirs + files)]
    return sorted(out)


def is_dir(p):
    return os.path.isdir(p) and not os.path.islink(p)


def write(p):
    with open(p + ".tmp", "w") as f:
        f.write("%s %d\n" % (verb, r.randrange(10**9)))
    os.rename(p + ".tmp", p)


def remove(p):
    if is_dir(p):
        for n in sorted(os.listdir(p)):
            remove(os.path.join(p, n))
        os.rmdir(p)
    else:
        os.unlink(p)


def fill(p, depth):
    os.mkdir(p)
    for n in r.sample(FILES, r.randrange(4)):
        write(os.path.join(p, n))
    for n in r.sample(DIRS, r.randrange(3) if depth else 0):
        fill(os.path.join(p, n), depth - 1)


def one():
    known = walk()
    dirs = [p for p in known if is_dir(p)]
    files = [p for p in known if not is_dir(p)]
    places = [top] + [p for p in dirs if p.count("/") - top.count("/") < 4]
    d = r.choice(dirs) if dirs else None
    f = r.choice(files) if files else None
    fresh = os.path.join(r.choice(places), r.choice(FILES))
    room = os.path.join(r.choice(places), r.choice(DIRS))
    k = r.randrange(12)
    if k <= 2 and d:
        remove(d)
        fill(d, 2)
    elif k == 3 and d:
        remove(d)
    elif k == 4 and d:  # made elsewhere, then renamed into place
        fill(d + ".new", 2)
        remove(d)
        os.rename(d + ".new", d)
    elif k == 5:
        fill(room, 2)
    elif k == 6 and f:
        remove(f)
        fill(f, 1)
    elif k == 7 and d:
        remove(d)
        write(d)
    elif k == 8 and f:
        remove(f)
    elif k == 9 and f:
        os.link(f, fresh)
    elif k == 10 and d:
        os.chmod(d, r.choice([0o755, 0o700, 0o750]))
    elif not is_dir(fresh):
        write(fresh)


def host():  # what somebody makes outside, in directories that both trees have
    other = sys.argv[5]
    both = [top] + [p for p in walk() if is_dir(p) and is_dir(other + p[len(top):])]
    place, name = r.choice(both), "host%d" % r.randrange(10**6)
    for p in (place, other + place[len(top):]):
        with open(os.path.join(p, name), "w") as f:
            f.write("host %s\n" % seed)


if verb == "make":
    for n in DIRS:
        fill(os.path.join(top, n), 3)
elif verb == "host":
    for i in range(count):
        host()
else:
    for i in range(count):
        try:
            one()
        except OSError as x:
            print(i, "error", x.errno)
