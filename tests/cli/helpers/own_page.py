"""Looks for names that stand in a mapped page of the box's own root, and drops the page all the while: whoever reads
the name of the call must not wait for itself. Prints "went on" or, after some seconds, "stood still"."""
import ctypes, os, threading, time

libc = ctypes.CDLL(None)
fd = os.open("/etc/passwd", os.O_RDONLY)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(4096), 1, 2, fd, ctypes.c_long(0))
os.chdir("/")
over = count = 0


def drop():
    while not over:
        libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(4096), 4)
        libc.posix_fadvise(fd, ctypes.c_long(0), ctypes.c_long(0), 4)


def look():
    global count
    while not over:
        libc.open(ctypes.c_void_p(at), 0)
        count += 1


for what in (drop, look):
    threading.Thread(target=what, daemon=True).start()
time.sleep(1)
before = count
time.sleep(1)
print("went on" if count > before else "stood still", flush=True)
os._exit(0)
