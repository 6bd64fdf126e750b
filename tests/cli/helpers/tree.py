# Everything a tree is, one entry a line: tree.py DIR. Names and targets are escaped; names of one file share a number.
import hashlib, os, stat, sys


def content(path, mode):
    """An ordinary user may not read its own file of mode 000; to open it for a look would be a change that undo finds."""
    if os.geteuid() != 0 and not mode & stat.S_IRUSR:
        return b"closed"
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as f:
        return f.read()


top, groups = sys.argv[1].encode(), {}
for base, dirs, files in os.walk(top):
    dirs.sort()
    for n in sorted(dirs + files):
        p = os.path.join(base, n)
        s = os.lstat(p)
        what = "%r %o %d:%d" % (p[len(top) + 1:], s.st_mode if not stat.S_ISLNK(s.st_mode) else stat.S_IFLNK, s.st_uid, s.st_gid)
        if stat.S_ISLNK(s.st_mode):
            what += " -> %r" % os.readlink(p)
        elif stat.S_ISREG(s.st_mode):
            what += " %d %s" % (s.st_size, hashlib.sha256(content(p, s.st_mode)).hexdigest())
            what += " group %d of %d" % (groups.setdefault(s.st_ino, len(groups)) if s.st_nlink > 1 else -1, s.st_nlink)
        if not stat.S_ISLNK(s.st_mode):
            what += " " + " ".join("%s=%r" % (x, os.getxattr(p, x)) for x in sorted(os.listxattr(p)) if x != "user.cordon.origin")
        print(what)
