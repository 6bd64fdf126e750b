#!/usr/bin/env python3
# tests/cli/helpers/answer_on_tty.py ANSWER COMMAND... - runs it on a terminal of its own; types ANSWER whenever it asks
# "[y/N]". Prints what it wrote to the terminal, ends with its status.
import os, pty, sys
answer, command, seen = sys.argv[1], sys.argv[2:], b''
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
asked = 0
while True:
    try:
        b = os.read(fd, 4096)
    except OSError:
        break
    if not b:
        break
    seen += b
    while seen.count(b'[y/N]') > asked:
        asked += 1
        os.write(fd, answer.encode() + b'\n')
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
