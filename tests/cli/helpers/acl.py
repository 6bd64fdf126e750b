# acl.py FILE UID: an access list that names one user. No package has to be installed for it.
import os, struct, sys

nobody = 0xffffffff
entries = [(1, 6, nobody), (2, 5, int(sys.argv[2])), (4, 4, nobody), (16, 5, nobody), (32, 4, nobody)]
os.setxattr(sys.argv[1], "system.posix_acl_access", struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *e) for e in entries))
