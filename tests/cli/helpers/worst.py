# SPDX-License-Identifier: MIT
"""worst.py CORDON TREE COUNT SEED - makes COUNT policies over TREE, runs a prober in a box of each, and compares what it
reached with what `why` answers and with what the worst case of `doors` tells. One line for each difference; at the end
what was compared. TREE belongs to the caller."""
import json
import os
import random
import subprocess
import sys

cordon, tree, count, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
chance = random.Random(seed)
os.chdir(tree)  # below {work}, a path below /tmp is the host's
dirs, files = [tree], []
for top in ("a", "a-b", "b"):
    for below in ("", "/s", "/s/t"):
        d = f"{tree}/{top}{below}"
        os.makedirs(d, exist_ok=True)
        dirs.append(d)
        for name in ("f", "x"):
            files.append(f"{d}/{name}")
with open("/bin/true", "rb") as program:
    TRUE = program.read()


def content(f):
    """Of the host's file, and of no other: what the box sees in its place is something else."""
    return TRUE + f.encode() if f.endswith("/x") else f.encode()


def make():
    for f in files:
        with open(f, "wb") as out:
            out.write(content(f))
        os.chmod(f, 0o755)


def lines():
    made = []
    for _ in range(chance.randint(1, 5)):
        word = chance.choice(("read", "read", "read", "write", "run"))
        path = chance.choice(dirs[1:] + files)
        line = f"{word} {path}"
        if word == "run" and path in dirs:
            line += "/"
        below = [p for p in dirs + files if p.startswith(path + "/")]
        if word == "read" and below and chance.random() < 0.4:
            line += " except " + " ".join(chance.sample(below, chance.randint(1, 2)))
        made.append(line)
    if any(m.startswith("run ") for m in made):  # then nothing else runs: the prober's own programs are named
        made.append("run /bin/ /usr/bin/")
    return made


PROBE = """for p in "$@"; do
sum=$(cksum 2>/dev/null <"$p") && echo "read $p $sum"
case $p in */x) "$p" 2>/dev/null && echo "run $p" ;; esac
( printf w >>"$p" ) 2>/dev/null
done; true"""


def reached(policy):
    """Effects on the host: bytes of its file were read, its file grew, its program ran."""
    make()
    sums = {f: subprocess.run(["cksum"], input=content(f), capture_output=True).stdout.decode().strip() for f in files}
    box = subprocess.run([cordon, "run", "-q", "-p", policy, "--", "/bin/sh", "-c", PROBE, "sh"] + files,
                         capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if "` opens a part of it" in box.stderr:
        return None  # what cannot be held is refused
    if box.returncode != 0:
        print(f"the box did not run: {box.returncode} {box.stderr.strip()}")
        sys.exit(1)
    said = set(box.stdout.splitlines())
    did = {f"read {f}" for f in files if f"read {f} {sums[f]}" in said}
    did |= {f"run {f}" for f in files if f"run {f}" in said}
    return did | {f"write {f}" for f in files if os.path.getsize(f) != len(content(f))}


def answered(policy, effect):
    why = subprocess.run([cordon, "why", "--json", "-p", policy] + effect.split(" ", 1), capture_output=True, text=True)
    said = json.loads(why.stdout)
    return said["answer"] == "allow" and "built_in" not in said  # what the box has of its own is no effect on the host


def told(policy):
    doors = subprocess.run([cordon, "doors", "--json", "-p", policy], capture_output=True, text=True)
    may = {"read": [], "write": []}
    for s in json.loads(doors.stdout)["worst"]:
        if " everything in " not in s:
            continue
        named = [p.rstrip("/") for p in s.split(" everything in ", 1)[1].rstrip(".").split(", ")]
        may["read"] += named
        if "overwrite" in s:
            may["write"] += named
    return may


compared = got = 0
for i in range(count):
    policy = f"{tree}/policy"
    made = lines()
    with open(policy, "w") as out:
        out.write("use base/system\n" + "\n".join(made) + "\n")
    inside, worst = reached(policy), told(policy)
    if inside is None:
        continue
    for f in files:
        for word in ("read", "write", "run"):
            if word == "run" and not f.endswith("/x"):
                continue
            effect = f"{word} {f}"
            compared += 1
            got += effect in inside
            if answered(policy, effect) != (effect in inside):
                print(f"why and the box differ on `{effect}` with {made}: inside {effect in inside}")
            if word == "run":
                continue
            in_told = any(f == p or f.startswith(p + "/") for p in worst[word])
            if effect in inside and not in_told:
                print(f"`doors` does not tell of `{effect}` with {made}")
            if in_told and effect not in inside and not any(" except " in m for m in made):
                print(f"`doors` tells of `{effect}`, but the box cannot, with {made}")
print(f"{compared} compared, {got} reached")
