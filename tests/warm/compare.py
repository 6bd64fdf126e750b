#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# compare.py INTERPRETER DRIVER CASES [NAME...]: runs each case with the plain interpreter and with the driver of a warm
# one, in the same directory with the same files, variables and input: output, messages and status have to be equal.
#
# With CORDON and POLICY in the environment the warm run is one in a parked box, and the plain one in a new box.
#
# A case begins with "=== NAME". "argv: WORDS" are the arguments, @FILE the text of a file of the case; "stdin: TEXT" (with
# \n) is the input; "one:" sends messages to the output; "file: PATH" begins a file of the case.
import concurrent.futures
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

interpreter, driver, cases_file = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3]
is_node = driver.endswith('.cjs')
cordon, policy = os.environ.get('CORDON_WARM'), os.environ.get('CORDON_WARM_POLICY')
top = tempfile.mkdtemp(prefix='cordon-warm-')
env = {'PATH': '/usr/bin:/bin', 'HOME': top, 'LANG': 'C.UTF-8', 'USER': 'box', 'TERM': 'dumb'}


def read_cases(path):
    cases, files = [], None
    for line in open(path, encoding='utf-8'):
        if line.startswith('=== '):
            case = {'name': line[4:].strip(), 'argv': [], 'stdin': '', 'one': False, 'files': {}}
            cases.append(case)
            files = None
        elif files is None and line.startswith('argv: '):
            case['argv'] = shlex.split(line[6:])
        elif files is None and line.startswith('stdin: '):
            case['stdin'] = line[7:-1].encode().decode('unicode_escape')
        elif files is None and line.startswith('one:'):
            case['one'] = True
        elif line.startswith('file: '):
            files = line[6:].strip()
            case['files'][files] = ''
        elif files is not None:
            case['files'][files] += line
    return cases


def prepare(place, case):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name, text in case['files'].items():
        path = os.path.join(place, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='latin-1' if name.startswith('latin1') else 'utf-8') as f:
            f.write(text)


def words(case):
    return [case['files'][w[1:]] if w.startswith('@') else w for w in case['argv']]


def start(argv, place, case, fds=()):
    return subprocess.Popen(argv, cwd=place, env=env, pass_fds=fds, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT if case['one'] else subprocess.PIPE)


def finish(p, case):
    try:
        out, err = p.communicate(case['stdin'].encode(), timeout=60)
    except subprocess.TimeoutExpired:
        p.kill()
        out, err = p.communicate()
        return 'timeout', out, err
    return p.returncode, out, err or b''


def in_box(how, case, place):
    argv = [cordon, 'run', '-q', '--pool', how, '-p', policy, '--read', place, '--', interpreter] + words(case)
    p = subprocess.Popen(argv, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT if case['one'] else subprocess.PIPE)
    return finish(p, case)


def plain(case, place):
    return in_box('off', case, place) if cordon else finish(start([interpreter] + words(case), place, case), case)


def warm(case, place):
    if cordon:
        return in_box('auto', case, place)
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    options = ['--expose-internals', '-r', driver, '/.warm/main'] if is_node else [driver]
    p = start([interpreter] + options + [str(its.fileno())], place, case, (its.fileno(),))
    its.close()
    if ours.recv(1000) != b'R':
        return ('not ready',) + finish(p, case)[1:]
    block = b'\0'.join([b'1' if case['one'] else b'0', interpreter.encode()] + [os.fsencode(w) for w in words(case)]) + b'\0'
    block = struct.pack('=I', len(block)) + block
    for at in range(0, len(block), 32768):
        ours.send(block[at:at + 32768])
    return finish(p, case)


# Addresses and pids, and the one line by which node names the file of its own that began.
def inert(result):
    text = [re.sub(rb'0x[0-9a-f]{6,}|(?<=node:)[0-9]+', b'0x', t) for t in result[1:]]
    return (result[0],) + tuple(re.sub(rb'at node:internal/main/\w+:\d+:\d+', b'at node:main', t) for t in text)


def run(case):
    place = os.path.join(top, case['name'])
    both = []
    for how in plain, warm:
        prepare(place, case)
        both.append(inert(how(case, place)))
    return case['name'], both


cases = [c for c in read_cases(cases_file) if not sys.argv[4:] or c['name'] in sys.argv[4:]]
different = 0
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for name, (a, b) in pool.map(run, cases):
        if a != b or 'timeout' in a:
            different += 1
            print('%s differs:\n  plain %r\n  warm  %r' % (name, a, b))
        elif os.environ.get('VERBOSE'):
            print(name, a)
shutil.rmtree(top, ignore_errors=True)
print('%d cases, %d different' % (len(cases), different))
