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


def read_keys(path):
    keys = {}
    for line in open(path, encoding="utf-8").read().splitlines():
        name, digest, data = line.split("+", 2)
        raw = base64.b64decode(data, validate=True)
        need(len(raw) == 33 and raw[0] == 1, "key.pub: not an Ed25519 key")
        want = hashlib.sha256(name.encode() + b"\n" + raw).digest()[:4]
        need(want.hex() == digest, "key.pub: wrong hash")
        keys[(name, want)] = raw[1:]
    return keys


def signature_fits(public, signature, text):
    der = bytes.fromhex("302a300506032b6570032100") + public
    with tempfile.TemporaryDirectory() as d:
        for name, data in (("k", der), ("s", signature), ("t", text)):
            with open(os.path.join(d, name), "wb") as f:
                f.write(data)
        done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", d + "/k", "-rawin",
                               "-in", d + "/t", "-sigfile", d + "/s"], capture_output=True, check=False)
    return done.returncode == 0


def read_notes(text, keys):
    """[(size, root)] of the notes, each with a good signature by a known key."""
    notes = []
    lines = text.split("\n")
    at = 0
    while at < len(lines) and lines[at]:
        _origin, size, root = lines[at:at + 3]
        body = "\n".join(lines[at:at + 3]).encode() + b"\n"
        need(lines[at + 3] == "", "checkpoint of %s records: no empty line" % size)
        at += 4
        good = False
        while at < len(lines) and lines[at].startswith("\u2014 "):
            _dash, name, data = lines[at].split(" ")
            raw = base64.b64decode(data, validate=True)
            key = keys.get((name, raw[:4]))
            if key:
                need(signature_fits(key, raw[4:], body), "checkpoint of %s records: wrong signature" % size)
                good = True
            at += 1
        need(good, "checkpoint of %s records: no known signature" % size)
        notes.append((int(size), base64.b64decode(root, validate=True)))
    return notes


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
        notes = read_notes(f.read(), read_keys(os.path.join(directory, "key.pub")))
    need(notes, "there is no checkpoint")
    for size, root in notes:
        need(size <= len(leaves), "a checkpoint covers %d records, %d can be read" % (size, len(leaves)))
        need(root_of(leaves[:size]) == root, "the checkpoint of %d records does not match" % size)
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
        notes = read_notes(f.read(), read_keys(keyfile))
    need(len(notes) == 1, "not one checkpoint")
    size, root = notes[0]
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
    notes = read_notes("\n".join(lines[end + 1:]), read_keys(keyfile))
    need(len(notes) == 1, "not one checkpoint")
    size, root = notes[0]
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
