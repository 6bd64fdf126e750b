"""Renames directories behind an edit door, from inside the box; the working directory is the door. Prints one line for each
thing that went otherwise than it does on a plain filesystem."""
import ctypes, errno, os, stat, sys, threading

libc = ctypes.CDLL(None, use_errno=True)
NOREPLACE, EXCHANGE = 1, 2
AT_FDCWD = -100


def rename(old, new, flags=0, old_dir=AT_FDCWD, new_dir=AT_FDCWD):
    """The name of the error, or "done"."""
    if libc.renameat2(old_dir, os.fsencode(old), new_dir, os.fsencode(new), flags) == 0:
        return "done"
    return errno.errorcode[ctypes.get_errno()]


def expect(what, got, want):
    if got != want:
        print(f"{what}: got {got}, want {want}")


def files(top):
    """Every file below, with what it holds."""
    found = {}
    for at, _, names in os.walk(top):
        for n in names:
            p = os.path.join(at, n)
            found[os.path.relpath(p, top)] = os.readlink(p) if os.path.islink(p) else open(p).read()
    return found


def plain():
    was = files("d")
    st = os.stat("d/sub")
    expect("a directory", rename("d", "e"), "done")
    expect("its old name", os.path.exists("d"), False)
    expect("its files", files("e"), was)
    now = os.stat("e/sub")
    expect("mode of a directory in it", stat.S_IMODE(now.st_mode), stat.S_IMODE(st.st_mode))
    expect("time of a directory in it", now.st_mtime_ns, st.st_mtime_ns)
    expect("an attribute", os.getxattr("e/sub", "user.test") if os.listxattr("e/sub") else b"none",
           b"kept" if os.path.exists("e/has-xattr") else b"none")
    expect("what stands beside it", [n for n in os.listdir(".") if n.startswith(".cordon")], [])
    expect("once more, as a directory of the box", rename("e", "f"), "done")
    expect("back", rename("f", "d"), "done")


def forms():
    here = os.open("forms", os.O_RDONLY)
    expect("slashes at the end", rename("forms/a/", "forms/a2/"), "done")
    expect("by a descriptor", rename("b", "b2", 0, here, here), "done")
    expect("from a directory below", rename("../forms/./c", "forms/deep/../c2"), "ENOENT" if not os.path.isdir("../forms") else "done")
    os.chdir("forms/deep")
    expect("from below", rename("../d", "../deep/d2"), "done")
    os.chdir("../..")
    expect("over an empty directory", rename("forms/e", "forms/empty"), "done")
    expect("over a full one", rename("forms/g", "forms/full"), "ENOTEMPTY")
    expect("over a file", rename("forms/g", "forms/file"), "ENOTDIR")
    expect("into itself", rename("forms/g", "forms/g/sub/g"), "EINVAL")
    expect("only if new, and it is not", rename("forms/g", "forms/empty", NOREPLACE), "EEXIST")
    expect("exchange is not served", rename("forms/g", "forms/full", EXCHANGE), "EXDEV")
    expect("of two that stay", [os.path.exists("forms/g/g1"), os.path.exists("forms/full/x")], [True, True])
    expect("only if new, and it is", rename("forms/g", "forms/g2", NOREPLACE), "done")
    expect("the working directory of no name", rename("forms/deep/.", "forms/x"), "EBUSY")
    expect("what does not exist", rename("forms/none", "forms/x"), "ENOENT")
    expect("nothing is left over", [n for at, d, _ in os.walk(".") for n in d if n.startswith(".cordon")], [])


def writer():
    """What a process beside it makes or replaces is there afterwards, by the new name."""
    for i in range(12):
        old, new = f"w{i}", f"w{i}.new"
        made, end = {}, threading.Event()

        def write():
            k = 0
            while not end.is_set():
                try:
                    with open(f"{old}/n{k}", "w") as f:
                        f.write(str(k))
                    made[f"n{k}"] = str(k)
                    with open(f"{old}/tmp", "w") as f:
                        f.write(f"new {k}")
                    os.replace(f"{old}/tmp", f"{old}/sub/s1")
                    made["sub/s1"] = f"new {k}"
                    k += 1
                except FileNotFoundError:
                    return

        t = threading.Thread(target=write)
        was = files(old)
        t.start()
        got = rename(old, new)
        end.set()
        t.join()
        now = files(new)
        if os.path.exists(old):
            now.update(files(old))
        expect(f"{old} beside a writer", got in ("done", "ENOTEMPTY"), True)
        for name, text in {**was, **made}.items():
            if name == "sub/s1":
                expect(f"{new}/{name} is there", name in now, True)
            elif now.get(name) != text:
                print(f"{new}/{name}: lost")


def swaps(other):
    """A component that becomes a link to somewhere else, and back, all the time."""
    before, end = files(other), threading.Event()

    def swap():
        while not end.is_set():
            try:
                os.rename("swap/s", "swap/real")
                os.symlink(other, "swap/s")
                os.unlink("swap/s")
                os.rename("swap/real", "swap/s")
            except OSError:
                pass

    os.makedirs("swap/s/own")
    t = threading.Thread(target=swap)
    t.start()
    for i in range(20):
        rename(f"swap/d{i}", f"swap/s/d{i}")
        rename(f"swap/s/d{i}", f"swap/back{i}")
    end.set()
    t.join()
    now = files(other)
    moved = [n for n in before if now.get(n) != before[n]]
    expect("where the link led", moved, [])
    every = files("swap")
    every.update({k: v for k, v in now.items() if k not in before})
    for i in range(20):
        n = sum(1 for k in every if k.endswith(f"mark{i}"))
        if n < 1:
            print(f"mark{i}: lost")


def others():
    """Two directories into each other at once, and one that another thread takes away."""
    threads = [threading.Thread(target=rename, args=a) for a in
               (("x1", "x2/in"), ("x2", "x1/in"), ("x3", "x4"), ("x3", "x5"), ("x3", "x6"))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    have = [n for at, _, f in os.walk(".") for n in f]
    for n in ("only1", "only2", "only3"):
        expect(f"{n} is there once", have.count(n), 1)


if __name__ == "__main__":
    {"plain": plain, "forms": forms, "writer": writer, "swaps": lambda: swaps(sys.argv[2]), "others": others,
     "one": lambda: print(rename(sys.argv[2], sys.argv[3]))}[sys.argv[1]]()
    print("end")
