#!/usr/bin/env python3
"""Verifies a ledger from its files alone, written from cordon-ledger(5) and not from the code.

usage: verify_ledger.py LEDGER_DIR        checks segments, tree, checkpoints and records
       verify_ledger.py --tiles DIR KEYS  checks a copy in the layout of tlog-tiles
       verify_ledger.py --proof FILE KEYS checks a tlog-proof
Prints "ok N" (records) or the first fault, with status 1.
"""
import base64, hashlib, json, os, struct, subprocess, sys, tempfile


class Fault(Exception):
    pass


def need(condition, text):
    if not condition:
        raise Fault(text)


TABLE = []
for n in range(256):
    for _ in range(8):
        n = (n >> 1) ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    c = 0xFFFFFFFF
    for b in data:
        c = (c >> 8) ^ TABLE[(c ^ b) & 255]
    return c ^ 0xFFFFFFFF


def leaf_hash(payload):
    return hashlib.sha256(b"\0" + payload).digest()


def node_hash(a, b):
    return hashlib.sha256(b"\1" + a + b).digest()


def root_of(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    level, edge = leaves, []
    while len(level) > 1:  # pairs; an odd one is kept for the end
        if len(level) % 2:
            edge.append(level[-1])
        level = [node_hash(level[i], level[i + 1]) for i in range(0, len(level) - 1, 2)]
    root = level[0] if level else None
    # The odd ones join from the smallest subtree up.
    parts = edge + ([root] if root is not None else [])
    out = parts[0]
    for p in parts[1:]:
        out = node_hash(p, out)
    return out


def read_segments(directory):
    """[(payload or None, leaf hash)]"""
    records = []
    names = sorted(n for n in os.listdir(directory) if n.endswith(".seg"))
    for number, name in enumerate(names, 1):
        with open(os.path.join(directory, name), "rb") as f:
            data = f.read()
        need(name == "%08d.seg" % number, "segment %d is missing" % number)
        need(len(data) >= 40 and data[:8] == b"cordonL1", name + ": not a segment")
        seq, zero, first, _clock, zero2, crc = struct.unpack("<IIQQII", data[8:40])
        need(crc == crc32c(data[:36]) and seq == number and zero == zero2 == 0, name + ": bad head")
        need(first == len(records), name + ": does not follow the one before")
        at = 40
        while at < len(data):
            torn = name == names[-1]
            if len(data) - at < 8:
                need(torn, name + ": torn frame")
                break
            length, crc = struct.unpack("<II", data[at:at + 8])
            size = length & 0x7FFFFFFF
            if len(data) - at - 8 < size:
                need(torn, name + ": torn frame")
                break
            payload = data[at + 8:at + 8 + size]
            need(crc == crc32c(data[at:at + 4] + payload), "%s: byte %d: bad frame" % (name, at))
            if length >> 31:
                need(size == 32, "%s: byte %d: bad pruned frame" % (name, at))
                records.append((None, payload))
            else:
                records.append((payload, leaf_hash(payload)))
            at += 8 + size
    return records


def read_key(line):
    """((name, hash), public key)"""
    name, digest, data = line.split("+", 2)
    raw = base64.b64decode(data, validate=True)
    need(len(raw) == 33 and raw[0] == 1, "not an Ed25519 key")
    want = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
    need(want.hex() == digest, "a key with a wrong hash")
    return (name, want), raw[1:]


def read_keys(path):
    with open(path, encoding="utf-8") as f:
        return [read_key(line) for line in f.read().splitlines()]


def signature_fits(public, signature, text):
    der = bytes.fromhex("302a300506032b6570032100") + public
    with tempfile.TemporaryDirectory() as d:
        for name, data in (("k", der), ("s", signature), ("t", text)):
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", d + "/k", "-rawin",
                               "-in", d + "/t", "-sigfile", d + "/s"], capture_output=True, check=False)
    return done.returncode == 0


class Note:
    """size, root, next (a key, or None), body (the signed bytes), signatures {(name, hash): bytes}"""


def read_notes(text):
    notes = []
    for part in text.replace("\n\n\u2014", "\n\0\u2014").split("\n\n"):
        if not part.strip("\n"):
            continue
        body, signatures = part.strip("\n").split("\0")
        n = Note()
        lines = body.rstrip("\n").split("\n")
        n.size, n.root, n.next = int(lines[1]), base64.b64decode(lines[2], validate=True), None
        for line in lines[3:]:
            if line.startswith("next-key "):
                n.next = read_key(line[9:])
        n.body, n.signatures = body.encode(), {}
        for line in signatures.rstrip("\n").split("\n"):
            _dash, name, data = line.split(" ")
            raw = base64.b64decode(data, validate=True)
            n.signatures[(name, raw[:4])] = raw[4:]
        notes.append(n)
    return notes


def is_signed(note, key):
    """False if it has no signature by this key; a wrong one is a fault."""
    signature = note.signatures.get(key[0])
    if signature is None:
        return False
    need(signature_fits(key[1], signature, note.body), "checkpoint of %d records: wrong signature" % note.size)
    return True


def follow(first, notes):
    """[[key, from size, to size]]: each key after the first by a rotation that the one before it signed."""
    terms = [[first, 0, 1 << 64]]
    while True:
        last = terms[-1]
        for n in notes:
            if n.next and n.size >= last[1] and n.next not in [t[0] for t in terms] and is_signed(n, last[0]):
                last[2] = n.size
                terms.append([n.next, n.size, 1 << 64])
                break
        else:
            return terms


def check_notes(notes, terms):
    for n in notes:
        by = [t for t in terms if is_signed(n, t[0])]
        need(by, "checkpoint of %d records: no known signature" % n.size)
        need(any(t[1] <= n.size <= t[2] for t in by), "checkpoint of %d records: by a retired key" % n.size)
        need(not n.next or n.next in [t[0] for t in terms], "checkpoint of %d records: another next key" % n.size)


def one_note(text, keyfile):
    """A note by itself, signed by any of the keys, for which the caller vouches."""
    notes = read_notes(text)
    need(len(notes) == 1, "not one checkpoint")
    need(any(is_signed(notes[0], k) for k in read_keys(keyfile)), "no known signature")
    return notes[0].size, notes[0].root


def check_pruned(records, sealed):
    gone = [i for i, (payload, _leaf) in enumerate(records) if payload is None]
    told, every = 0, None
    for payload, _leaf in records[:sealed]:
        r = json.loads(payload) if payload else {}
        if r.get("kind") == "prune":
            over = r["phase"] == "outcome"
            told, every = told + (0 if over else r["count"]), r["digest"] if over else None
    need(len(gone) <= told, "%d payloads are gone, %d were pruned" % (len(gone), told))
    digest = hashlib.sha256(b"".join(struct.pack("<Q", i) for i in gone)).hexdigest()
    need(every in (None, "sha256:" + digest), "other payloads are gone than those that were pruned")


def check_records(records):
    ids, clock = set(), -1
    for i, (payload, _leaf) in enumerate(records):
        if payload is None:
            continue
        r = json.loads(payload)
        canonical = json.dumps(r, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        need(json.loads(canonical) == r and list(r) == sorted(r), "record %d is not canonical" % i)
        need(r["id"] not in ids, "record %d: its id occurs twice" % i)
        need(r["clock"] > clock, "record %d: its clock does not rise" % i)
        ids.add(r["id"])
        clock = r["clock"]


def verify(directory):
    records = read_segments(os.path.join(directory, "segments"))
    leaves = [leaf for _payload, leaf in records]
    with open(os.path.join(directory, "checkpoints"), encoding="utf-8") as f:
        notes = read_notes(f.read())
    need(notes, "there is no checkpoint")
    keys = read_keys(os.path.join(directory, "key.pub"))
    terms = follow(keys[0], notes)
    need(all(k in [t[0] for t in terms] for k in keys), "key.pub: a key that no rotation leads to")
    check_notes(notes, terms)
    for n in notes:
        need(n.size <= len(leaves), "a checkpoint covers %d records, %d can be read" % (n.size, len(leaves)))
        need(root_of(leaves[:n.size]) == n.root, "the checkpoint of %d records does not match" % n.size)
    check_pruned(records, max(n.size for n in notes))
    check_records(records)
    return len(records)


def tile_name(level, n, width):
    groups = ["%03d" % (n % 1000)]
    while n >= 1000:
        n //= 1000
        groups.insert(0, "x%03d" % (n % 1000))
    return "tile/%s/%s%s" % (level, "/".join(groups), ".p/%d" % width if width < 256 else "")


def verify_tiles(directory, keyfile):
    with open(os.path.join(directory, "checkpoint"), encoding="utf-8") as f:
        size, root = one_note(f.read(), keyfile)
    leaves, level, count = [], 0, size
    below = None
    while count:
        hashes = []
        for n in range((count + 255) // 256):
            width = min(256, count - 256 * n)
            with open(os.path.join(directory, tile_name(level, n, width)), "rb") as f:
                data = f.read()
            need(len(data) == 32 * width, "a tile has a wrong size")
            hashes += [data[i:i + 32] for i in range(0, len(data), 32)]
        if level == 0:
            leaves = hashes
        else:
            for i, h in enumerate(hashes):
                need(root_of(below[256 * i:256 * i + 256]) == h, "level %d, hash %d does not match" % (level, i))
        below, level, count = hashes, level + 1, count // 256
    need(root_of(leaves) == root, "the tiles do not match the checkpoint")
    seen = 0
    for n in range((size + 255) // 256):
        path = os.path.join(directory, tile_name("entries", n, min(256, size - 256 * n)))
        if not os.path.exists(path):
            continue  # it held a pruned record
        with open(path, "rb") as f:
            data = f.read()
        at, i = 0, 256 * n
        while at < len(data):
            length = int.from_bytes(data[at:at + 2], "big")
            need(leaf_hash(data[at + 2:at + 2 + length]) == leaves[i], "entry %d does not match its leaf" % i)
            at, i, seen = at + 2 + length, i + 1, seen + 1
    return seen


def verify_proof(path, keyfile):
    lines = open(path, encoding="utf-8").read().split("\n")
    need(lines[0] == "c2sp.org/tlog-proof@v1" and lines[1].startswith("extra ") and lines[2].startswith("index "),
         "not a proof")
    record, index = base64.b64decode(lines[1][6:], validate=True), int(lines[2][6:])
    end = lines.index("", 3)
    audit = [base64.b64decode(x, validate=True) for x in lines[3:end]]
    size, root = one_note("\n".join(lines[end + 1:]), keyfile)
    fn, sn, h = index, size - 1, leaf_hash(record)
    for p in audit:  # RFC 9162, section 2.1.3.2
        need(sn > 0, "the path is too long")
        if fn & 1 or fn == sn:
            h = node_hash(p, h)
            while fn and not fn & 1:
                fn, sn = fn >> 1, sn >> 1
        else:
            h = node_hash(h, p)
        fn, sn = fn >> 1, sn >> 1
    need(sn == 0 and h == root, "the record is not under the checkpoint")
    return 1


def main(args):
    try:
        if args[0] == "--tiles":
            print("ok", verify_tiles(args[1], args[2]))
        elif args[0] == "--proof":
            print("ok", verify_proof(args[1], args[2]))
        else:
            print("ok", verify(args[0]))
    except (Fault, OSError, ValueError, KeyError) as e:
        print("fault:", e)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
