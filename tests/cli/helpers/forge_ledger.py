#!/usr/bin/env python3
"""Changes a ledger as a process can that may write its files but does not have its key.

usage: forge_ledger.py LEDGER WHAT [ARG...]     WHAT is the name of a function below, with - for _
"""
import base64, hashlib, json, os, struct, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from verify_ledger import crc32c, leaf_hash, read_notes, root_of  # noqa: E402

HEAD = 40
DASH = "\u2014 "


# ---- keys ----

class Key:
    """An Ed25519 key of openssl's, in the words of signed notes."""

    def __init__(self, name, pem=None):
        self.name, self.file = name, tempfile.NamedTemporaryFile(suffix=".pem")
        if pem is None:
            subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.file.name], check=True)
        else:
            self.file.write(pem)
            self.file.flush()
        der = subprocess.run(["openssl", "pkey", "-in", self.file.name, "-pubout", "-outform", "DER"], check=True,
                             capture_output=True).stdout
        self.raw = b"\1" + der[-32:]
        self.hash = hashlib.sha256(name.encode() + b"\n" + self.raw).digest()[:4]

    @classmethod
    def stolen(cls, path):
        """A key that was the ledger's own."""
        name, _hash, data = open(path, encoding="utf-8").read().strip()[len("PRIVATE+KEY+"):].split("+", 2)
        der = bytes.fromhex("302e020100300506032b657004220420") + base64.b64decode(data)[1:]
        pem = b"-----BEGIN PRIVATE KEY-----\n" + base64.encodebytes(der) + b"-----END PRIVATE KEY-----\n"
        return cls(name, pem)

    def line(self):
        return "%s+%s+%s" % (self.name, self.hash.hex(), base64.b64encode(self.raw).decode())

    def sign(self, text):
        with tempfile.NamedTemporaryFile() as t, tempfile.NamedTemporaryFile() as s:
            t.write(text.encode())
            t.flush()
            subprocess.run(["openssl", "pkeyutl", "-sign", "-inkey", self.file.name, "-rawin", "-in", t.name, "-out",
                            s.name], check=True)
            return DASH + self.name + " " + base64.b64encode(self.hash + s.read()).decode() + "\n"


# ---- files ----

def path(ledger, name):
    return os.path.join(ledger, name)


def read(ledger, name):
    with open(path(ledger, name), "rb") as f:
        return f.read()


def write(ledger, name, data):
    with open(path(ledger, name), "wb") as f:
        f.write(data)


def drop(ledger, name):
    if os.path.exists(path(ledger, name)):
        os.remove(path(ledger, name))


def segments(ledger):
    return sorted(n for n in os.listdir(path(ledger, "segments")) if n.endswith(".seg"))


def frame(payload, pruned=False):
    size = struct.pack("<I", len(payload) | (1 << 31 if pruned else 0))
    return size + struct.pack("<I", crc32c(size + payload)) + payload


def frames(ledger, name):
    """The head of a segment and [(payload, pruned)]"""
    data, at, out = read(ledger, "segments/" + name), HEAD, []
    while at < len(data):
        size = struct.unpack("<I", data[at:at + 4])[0]
        n = size & 0x7FFFFFFF
        out.append((data[at + 8:at + 8 + n], bool(size >> 31)))
        at += 8 + n
    return data[:HEAD], out


def put_frames(ledger, name, head, all_frames):
    write(ledger, "segments/" + name, head + b"".join(frame(*f) for f in all_frames))


def leaves(ledger):
    return [p if pruned else leaf_hash(p) for name in segments(ledger) for p, pruned in frames(ledger, name)[1]]


def last_record(ledger):
    return json.loads([p for name in segments(ledger) for p, gone in frames(ledger, name)[1] if not gone][-1])


def put_record(ledger, **fields):
    """One more record at the end."""
    last = last_record(ledger)
    r = {"v": 1, "id": "forged-1-1.%d" % (last["clock"] + 1), "run": "forged-1-1", "kind": "net", "phase": "outcome",
         "reach": "self", "time": last["time"] + 1, "mono": last["mono"] + 1, "clock": last["clock"] + 1, **fields}
    name = segments(ledger)[-1]
    data = json.dumps(r, sort_keys=True, separators=(",", ":"))
    write(ledger, "segments/" + name, read(ledger, "segments/" + name) + frame(data.encode()))


def note(key, all_leaves, extra="", others=()):
    text = "%s\n%d\n%s\n%s" % (key.name, len(all_leaves), base64.b64encode(root_of(all_leaves)).decode(), extra)
    return text + "\n" + key.sign(text) + "".join(k.sign(text) for k in others)


def put_checkpoints(ledger, text):
    """As the ledger's, with the last one for the witness."""
    write(ledger, "checkpoints", text.encode())
    last = text.rstrip("\n").split("\n\n")
    write(ledger, "../witness/checkpoint", ("\n\n".join(last[-2:]) + "\n").encode())


def forget(ledger):
    """What may be removed and is made anew: it would show which record was changed."""
    drop(ledger, "head")
    for n in range(8):
        drop(ledger, "tiles/%d" % n)


def own_key(ledger):
    key = Key(read(ledger, "key.pub").decode().split("+")[0])
    write(ledger, "key.pub", read(ledger, "key.pub") + key.line().encode() + b"\n")
    return key


def change_record(ledger):
    """Another box did it: in the first segment, with a right checksum."""
    name = segments(ledger)[0]
    head, all_frames = frames(ledger, name)
    put_frames(ledger, name, head, [(p.replace(b'"box":"box3"', b'"box":"box9"'), gone) for p, gone in all_frames])
    forget(ledger)


# ---- one file ----

def append(ledger, name, *text):
    write(ledger, name, read(ledger, name) + (text[0].encode() if text else b"more"))


def replace(ledger, name):
    data = bytearray(read(ledger, name))
    data[len(data) // 2] ^= 1
    write(ledger, name, bytes(data))


def cut(ledger, name):
    data = read(ledger, name)
    write(ledger, name, data[:len(data) // 2])


def remove(ledger, name):
    drop(ledger, name)


def reorder(ledger, name):
    if name.startswith("segments/"):
        head, all_frames = frames(ledger, os.path.basename(name))
        return put_frames(ledger, os.path.basename(name), head, all_frames[::-1])
    data = read(ledger, name)
    if name == "checkpoints":
        parts = data.decode().rstrip("\n").split("\n\n")
        notes = ["\n\n".join(parts[i:i + 2]) for i in range(0, len(parts), 2)]
        data = ("\n\n".join(notes[::-1]) + "\n").encode()
    elif name.startswith("tiles/"):
        data = b"".join(data[i:i + 32] for i in range(len(data) - 32, -1, -32))
    else:
        data = b"".join(reversed(data.splitlines(keepends=True)))
    return write(ledger, name, data)


def swap(ledger, name, other):
    write(ledger, name, read(other, name))


# ---- several ----

def second_key(ledger):
    """A key is added, records are changed, one checkpoint is signed with it."""
    key = own_key(ledger)
    change_record(ledger)
    put_checkpoints(ledger, note(key, leaves(ledger)))


def second_key_behind(ledger):
    """All that was signed stays; a record more, and a checkpoint by a key that names itself the next."""
    key = own_key(ledger)
    put_record(ledger)
    before = read(ledger, "checkpoints").decode()
    put_checkpoints(ledger, before + "\n" + note(key, leaves(ledger), "next-key " + key.line() + "\n"))


def second_key_beside(ledger):
    """The newest checkpoint gets a second signature, which is right; then a record more."""
    key = own_key(ledger)
    before = read(ledger, "checkpoints").decode()
    before += key.sign(read_notes(before)[-1].body.decode())
    put_record(ledger)
    put_checkpoints(ledger, before + "\n" + note(key, leaves(ledger)))


def key_record(ledger, pem):
    """A record that names a key, for the sealer to sign."""
    key = Key(read(ledger, "key.pub").decode().split("+")[0])
    with open(pem, "wb") as f:
        f.write(open(key.file.name, "rb").read())
    put_record(ledger, kind="key", phase="human", target=key.line(), result="a new key")


def key_recorded(ledger, pem):
    """The key of key_record, once that is sealed."""
    key = Key(read(ledger, "key.pub").decode().split("+")[0], open(pem, "rb").read())
    write(ledger, "key.pub", read(ledger, "key.pub") + key.line().encode() + b"\n")
    before = read(ledger, "checkpoints").decode()
    before += key.sign(read_notes(before)[-1].body.decode())
    put_record(ledger)
    put_checkpoints(ledger, before + "\n" + note(key, leaves(ledger)))


def retired_key(ledger, stolen):
    """The key before the last rotation signs on."""
    key = Key.stolen(stolen)
    put_record(ledger)
    put_checkpoints(ledger, read(ledger, "checkpoints").decode() + "\n" + note(key, leaves(ledger)))


def other_rotation(ledger, stolen):
    """The key before the last rotation names another next one."""
    key, fresh = Key.stolen(stolen), own_key(ledger)
    notes = read_notes(read(ledger, "checkpoints").decode())
    size = [n.size for n in notes if n.next][0]
    extra = note(key, leaves(ledger)[:size], "next-key " + fresh.line() + "\n", [fresh])
    put_record(ledger)
    before = read(ledger, "checkpoints").decode()
    put_checkpoints(ledger, before + "\n" + extra + "\n" + note(fresh, leaves(ledger)))


def foreign_rotation(ledger):
    """A key that nobody knows names the next one, for what the ledger holds; both stand in key.pub."""
    wrong, fresh = own_key(ledger), own_key(ledger)
    before = read(ledger, "checkpoints").decode()
    turn = note(wrong, leaves(ledger), "next-key " + fresh.line() + "\n")
    put_record(ledger)
    put_checkpoints(ledger, before + "\n" + turn + "\n" + note(fresh, leaves(ledger)))


def replayed_rotation(ledger, stolen):
    """The rotation again, as it was signed, and behind it the key that it retired goes on."""
    key, before = Key.stolen(stolen), read(ledger, "checkpoints").decode()
    turn = [n for n in before.split("\n\n") if "next-key " in n]
    at = before.index(turn[0])
    after = before[at:].split("\n\n")
    put_record(ledger)
    put_checkpoints(ledger, before + "\n" + after[0] + "\n\n" + after[1].rstrip("\n") + "\n\n" + note(key, leaves(ledger)))


def other_ledger(ledger):
    """Everything, under a key of one's own: consistent, and another ledger."""
    key = Key(read(ledger, "key.pub").decode().split("+")[0])
    write(ledger, "key.pub", key.line().encode() + b"\n")
    change_record(ledger)
    put_checkpoints(ledger, note(key, leaves(ledger)))


def no_seals(ledger):
    """What vouches for the records is removed, and they are changed."""
    change_record(ledger)
    for name in ("checkpoints", "../witness/checkpoint", "key.pub", "key"):
        drop(ledger, name)


def no_checkpoints(ledger):
    change_record(ledger)
    for name in ("checkpoints", "../witness/checkpoint"):
        drop(ledger, name)


def hide(ledger, text):
    """The payload of the first record with this text is gone; its hash stays."""
    for name in segments(ledger):
        head, all_frames = frames(ledger, name)
        for i, (payload, gone) in enumerate(all_frames):
            if not gone and text.encode() in payload:
                all_frames[i] = (leaf_hash(payload), True)
                return put_frames(ledger, name, head, all_frames)
    raise SystemExit("no record has " + text)


def hide_excused(ledger):
    """A record of a pruning, not sealed, shall excuse it."""
    hide(ledger, '"kind":"start"')
    put_record(ledger, kind="prune", phase="human", count=1000, target="every kind")


def hide_instead(ledger, before):
    """A payload that was pruned comes back, and another goes."""
    name = segments(before)[0]
    old, (head, new) = frames(before, name)[1], frames(ledger, name)
    back = [i for i, f in enumerate(new) if f[1]][0]
    new[back] = old[back]
    put_frames(ledger, name, head, new)
    hide(ledger, '"kind":"start"')


def plant_next(ledger):
    """A rotation that nobody began."""
    other = Key(read(ledger, "key.pub").decode().split("+")[0])
    der = subprocess.run(["openssl", "pkey", "-in", other.file.name, "-outform", "DER"], check=True,
                         capture_output=True).stdout
    seed = base64.b64encode(b"\1" + der[-32:]).decode()
    write(ledger, "key.next", ("PRIVATE+KEY+%s+%s+%s\n" % (other.name, other.hash.hex(), seed)).encode())
    os.chmod(path(ledger, "key.next"), 0o600)


def proof(ledger, file):
    """A proof of a record that never was, signed with a key that key.pub has."""
    key = own_key(ledger)
    record = b'{"clock":1,"id":"forged-1-1.1","kind":"net","mono":1,"phase":"outcome","reach":"self","run":"forged-1-1","time":1,"v":1}'
    text = "c2sp.org/tlog-proof@v1\nextra %s\nindex 0\n\n" % base64.b64encode(record).decode()
    with open(file, "w", encoding="utf-8") as f:
        f.write(text + note(key, [leaf_hash(record)]))


if __name__ == "__main__":
    globals()[sys.argv[2].replace("-", "_")](sys.argv[1], *sys.argv[3:])
