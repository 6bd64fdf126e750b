# heavy_module.py SHAPE BYTES >FILE: a valid module of about so many bytes that takes as much work of an engine, for its size, as SHAPE can.
# Its _start returns at once.
import sys


def leb(n):
    out = bytearray()
    while True:
        out.append(n & 127 | (128 if n > 127 else 0))
        n >>= 7
        if not n:
            return bytes(out)


def vec(items):
    return leb(len(items)) + b"".join(items)


def section(number, body):
    return bytes([number]) + leb(len(body)) + body


def functype(params, results):
    return b"\x60" + vec(params) + vec(results)


def body(groups, code):
    b = vec(groups) + code + b"\x0b"
    return leb(len(b)) + b


I32 = b"\x7f"
NONE = functype([], [])
START = body([], b"")


def module(types, funcs, bodies, exports=(), tables=(), elems=()):
    out = b"\0asm\x01\0\0\0" + section(1, vec(types)) + section(3, vec([leb(f) for f in funcs]))
    if tables:
        out += section(4, vec(tables))
    out += section(7, vec([b"\x06_start\x00\x00"] + list(exports)))
    if elems:
        out += section(9, vec(elems))
    return out + section(10, vec(bodies))


def many(types, f, kind, size):
    n = size // (len(f) + 1)
    return module(types, [0] + [kind] * n, [START] + [f] * n)


def one(types, code, size):
    return module(types, [0, 0], [START, body([], code)])


def locals_(size):  # 20,000 of them in a few bytes
    return many([NONE], body([leb(20000) + I32], b""), 0, size)


def used_locals(size):  # with some in use, so that each register is given away
    use = b"".join(b"\x20" + leb(i) + b"\x21" + leb(i) for i in range(24)) * 2
    return many([NONE], body([leb(20000) + I32], use), 0, size)


def groups(size):
    return many([NONE], body([leb(1) + (I32, b"\x7c")[i % 2] for i in range(20000)], b""), 0, size)


def params(size):
    return many([NONE, functype([I32] * 1000, [])], body([], b""), 1, size)


def nested(size):
    depth = 9000
    code = b"\x02\x40" * depth + b"\x0b" * depth
    return one([NONE], code * max(1, size // len(code)), size)


def br_tables(size):  # each entry leads to another of many blocks
    depth = 1000
    table = b"\x41\x00\x0e" + leb(depth) + b"".join(leb(i) for i in range(depth)) + leb(0)
    code = b"\x02\x40" * depth
    return one([NONE], code + (table + b"") + b"\x0b" * depth + (code + table + b"\x0b" * depth) * (size // (len(table) + 3 * depth)), size)


def block_types(size):  # results of a thousand
    wide = functype([], [I32] * 1000)
    block = b"\x02\x01" + b"\x00" + b"\x0b" + b"\x1a" * 1000
    return one([NONE, wide], block * (size // len(block)), size)


def operands(size):  # a deep stack over which many are settled
    code = b"\x41\x00" * 9000 + b"\x02\x40\x0b" * (max(size - 27000, 3) // 3) + b"\x1a" * 9000
    return one([NONE], code, size)


def calls(size):
    code = b"\x41\x00" * 9000 + b"\x10\x00" * (max(size - 27000, 2) // 2) + b"\x1a" * 9000
    return one([NONE], code, size)


def sets(size):  # locals that are on the stack when they are set
    code = b"\x20\x00" * 9000 + b"\x41\x00\x21\x00" * (max(size - 27000, 4) // 4) + b"\x1a" * 9000
    return module([NONE], [0, 0], [START, body([leb(1) + I32], code)])


def types(size):  # no two the same, each compared
    n = min(size // 24, 60000)
    all_ = [NONE] + [functype([(I32, b"\x7e")[i >> b & 1] for b in range(16)], []) for i in range(n)]
    return module(all_, [0], [START])


def indirect(size):
    n = min(size // 48, 30000)
    kinds = [NONE] + [functype([(I32, b"\x7e")[i >> b & 1] for b in range(16)], []) for i in range(n)]
    code = b"".join(b"\x00\x11" + leb(i) + b"\x00" for i in range(1, n))
    return module(kinds, [0, 0], [START, body([], code)], tables=[b"\x70\x00\x01"])


def exports(size):
    n = min(size // 10, 250000)
    names = [leb(len(b"%x" % i)) + b"%x" % i + b"\x00\x00" for i in range(n)]
    return module([NONE], [0], [START], exports=names)


def elements(size):
    n = min(size // 12, 100000)
    return module([NONE], [0], [START], tables=[b"\x70\x00\x01"], elems=[b"\x01\x00" + vec([b"\x00"] * 8) for _ in range(n)])


def ifs(size):
    code = b"\x41\x00\x04\x40\x05\x0b"
    return one([NONE], code * (size // len(code)), size)


def dead(size):
    code = b"\x00" + b"\x02\x40\x0b" * (size // 3)
    return one([NONE], code, size)


def loops(size):
    code = b"\x03\x40\x0b"
    return one([NONE], code * (size // len(code)), size)


SHAPES = {f.__name__.rstrip("_"): f for f in (locals_, used_locals, groups, params, nested, br_tables, block_types, operands, calls, sets, types, indirect, exports, elements, ifs, dead, loops)}

if len(sys.argv) < 3:
    print(*SHAPES)
else:
    sys.stdout.buffer.write(SHAPES[sys.argv[1]](int(sys.argv[2])))
