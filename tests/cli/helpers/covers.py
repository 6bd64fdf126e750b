"""Every cover of a name against every change that a process outside can make to it.

covers.py make DIR       makes DIR/CHANGE/..., one tree of covers for each change; prints the policy's lines
covers.py stamps DIR     the files that are to be stamped: PATH LABEL
covers.py change DIR     changes each tree as its name says
covers.py look DIR       in a box: "CHANGE COVER TEXT" for each cover, "-" for what is not read
covers.py judge LABELS [TREES]   reads that; prints what was read and must not be: all that is excepted, and what its label is not of
"""
import os, shutil, sys

SECRET = "SECRET"
EXCEPTED = (".env", "token/x", "deep/down/key", "later/key")
LABELLED = {"hr/a": "hr", "in/lab": "lab", "st/s": "s", "../alone/f": "f"}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def replace(path):
    """As editors do."""
    write(path + ".new", SECRET)
    os.replace(path + ".new", path)


def again(path):
    if os.path.exists(path):
        os.unlink(path)
    write(path, SECRET)


def first(path, up):
    """What leads to it from the door: a directory, or the file itself."""
    return os.path.join(up, path[len(up) + 1:].split("/")[0])


def parent(path, up):
    at = first(path, up)
    if at == path:
        return replace(path)
    shutil.rmtree(at + ".old", ignore_errors=True)
    if os.path.exists(at):
        os.rename(at, at + ".old")
    write(path, SECRET)


def link(path, up):
    """A symbolic link to what came later, in the same directory."""
    at = first(path, up)
    write(at + ".later" + path[len(at):], SECRET)
    if os.path.isdir(at):
        shutil.rmtree(at)
    elif os.path.exists(at):
        os.unlink(at)
    os.symlink(os.path.basename(at) + ".later", at)


CHANGES = {"rename": lambda path, up: replace(path), "again": lambda path, up: again(path), "parent": parent, "link": link}


def each(top):
    for change in CHANGES:
        yield change, os.path.join(top, change, "door")


def covers(up):
    """Each with the directory of its door. One lies behind no door but its own."""
    for cover in (*EXCEPTED, *LABELLED):
        path = os.path.normpath(os.path.join(up, cover))
        yield cover, path, os.path.dirname(path) if cover.startswith("../") else up


def make(top):
    for change, up in each(top):
        for cover, path, _ in covers(up):
            if cover != "later/key":
                write(path, SECRET)
        write(f"{up}/open/o", "open")
        print(f"read {up} except .env token deep/down/key later/key")
        print(f"read {up}/hr label private:{change}-hr")
        print(f"read {up}/in/lab label private:{change}-lab")
        print(f"read {os.path.dirname(up)}/alone/f label private:{change}-f")


def stamps(top):
    for change, up in each(top):
        print(f"{up}/st/s private:{change}-s")


def change(top):
    for name, up in each(top):
        for _, path, door in covers(up):
            os.makedirs(os.path.dirname(path), exist_ok=True)
            CHANGES[name](path, door)


def text(path):
    try:
        with open(path) as f:
            return f.read() or "-"
    except OSError:
        return "-"


def look(top):
    for name, up in each(top):
        for cover, path, _ in covers(up):
            print(name, cover, text(path), flush=True)
        print(name, "open/o", text(f"{up}/open/o"), flush=True)


def judge(labels, trees=len(CHANGES)):
    seen = 0
    for line in sys.stdin:
        change, cover, found = line.split()
        seen += found == "open"
        label = f"private:{change}-{LABELLED.get(cover)}"
        if found == SECRET and (cover in EXCEPTED or label not in labels.split()):
            print(f"{change} {cover} was read")
    if seen != trees:
        print(f"of {trees} trees {seen} were looked at")


if __name__ == "__main__":
    {"make": make, "stamps": stamps, "change": change, "look": look, "judge": judge}[sys.argv[1]](sys.argv[2], *map(int, sys.argv[3:]))
