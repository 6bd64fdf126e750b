# SPDX-License-Identifier: MIT
"""foreign.py NUMBER FILE - the smallest program of the 32-bit kin of this machine: one system call of that number, then
exit(1). Who runs it and sees no 1 has met a kernel without such programs, or a wall."""
import os, platform, struct, sys

nr = int(sys.argv[1])
if platform.machine() == "aarch64":  # r7 = nr, svc, r0 = 1, r7 = exit, svc
    machine, flags = 40, 0x05000200
    code = struct.pack("<6I", 0xE3A07000 | nr & 0xFF, 0xE3877C00 | nr >> 8 & 0xFF, 0xEF000000, 0xE3A00001, 0xE3A07001, 0xEF000000)
else:  # eax = nr, int 0x80, ebx = 1, eax = exit, int 0x80
    machine, flags = 3, 0
    code = b"\xb8" + struct.pack("<I", nr) + b"\xcd\x80\xbb\1\0\0\0\xb8\1\0\0\0\xcd\x80"
base, at = 0x10000, 52 + 32
head = b"\x7fELF\1\1\1" + bytes(9) + struct.pack("<HHIIIIIHHHHHH", 2, machine, 1, base + at, 52, 0, flags, 52, 32, 1, 0, 0, 0)
load = struct.pack("<8I", 1, 0, base, base, at + len(code), at + len(code), 5, 0x1000)
with open(sys.argv[2], "wb") as out:
    out.write(head + load + code)
os.chmod(sys.argv[2], 0o755)
