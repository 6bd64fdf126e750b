#!/usr/bin/env python3
# ledger_age.py LEDGER DAYS [RUN]: makes the records (of one run) so many days older, as if they had been written then.
# With the word `field` for DAYS: gives them a field of a later version instead.
# The days in the record of an audit are older as well. Frames get their right sum; seals do not hold any more, which is for `cordon ledger verify` to find.
import datetime, glob, re, struct, sys

TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    TABLE.append(c)


def crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    return c ^ 0xFFFFFFFF


field = sys.argv[2] == "field"
ledger, days, run = sys.argv[1], 0 if field else int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else ""
changed = 0
for name in glob.glob(ledger + "/segments/*.seg"):
    data = bytearray(open(name, "rb").read())
    at = data.find(b'{"') - 8
    while 0 <= at < len(data) - 8:
        length, _ = struct.unpack_from("<II", data, at)
        n = length & 0x7FFFFFFF
        if n == 0 or at + 8 + n > len(data):
            break
        record = bytes(data[at + 8 : at + 8 + n])
        if ('"run":"%s' % run).encode() in record:
            older = re.sub(rb'"time":(\d+)', lambda m: b'"time":%d' % (int(m[1]) - days * 86400 * 10**6), record)
            if b'"kind":"audit"' in record:
                day = lambda m: b"=%s" % str(datetime.date.fromisoformat(m[1].decode()) - datetime.timedelta(days)).encode()
                older = re.sub(rb"=(\d{4}-\d\d-\d\d)", day, older)
            if field:
                older = older.replace(b'"mono":', b'"moon":')
            assert len(older) == n
            data[at + 8 : at + 8 + n] = older
            struct.pack_into("<I", data, at + 4, crc(struct.pack("<I", length) + older))
            changed += 1
        at += 8 + n
    open(name, "wb").write(data)
print(changed)
