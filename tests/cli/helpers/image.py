"""Makes images for tests, honest and hostile: image.py KIND FILE ... The layers hold a static busybox, so that they run anywhere."""
import gzip, hashlib, io, json, os, platform, shutil, subprocess, sys, tarfile

REG, DIR, SYM, LNK, CHR, FIFO = (tarfile.REGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE,
                                 tarfile.FIFOTYPE)
machine = {'x86_64': 'amd64', 'aarch64': 'arm64'}[platform.machine()]


def sha(data):
    return hashlib.sha256(data).hexdigest()


def entry(name, data=b'', kind=REG, link='', mode=0o755, uid=0, pax=None, major=0):
    i = tarfile.TarInfo(name)
    i.type, i.linkname, i.mode, i.uid, i.size, i.mtime = kind, link, mode, uid, len(data) if kind == REG else 0, 1000
    i.devmajor, i.devminor, i.pax_headers = major, 3, pax or {}
    return i, data


def tar(*entries, form=tarfile.PAX_FORMAT):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=form) as t:
        for i, data in entries:
            t.addfile(i, io.BytesIO(data) if i.size else None)
    return out.getvalue()


def config(layers, **extra):
    return json.dumps({'architecture': machine, 'os': 'linux', 'config': extra,
                       'rootfs': {'type': 'layers', 'diff_ids': ['sha256:' + sha(x) for x in layers]}}).encode()


def save(path, layers, cfg=None, packed=None, tags=('tool:1',), **extra):
    """As docker save writes it; `packed`: the layers as they lie in the archive."""
    cfg = cfg or config(layers, **extra)
    names = ['%d/layer.tar' % n for n in range(len(layers))]
    manifest = json.dumps([{'Config': sha(cfg) + '.json', 'RepoTags': tags, 'Layers': names}]).encode()
    whole = tar(entry(sha(cfg) + '.json', cfg), *[entry(n, x) for n, x in zip(names, packed or layers)],
                entry('manifest.json', manifest))
    with open(path, 'wb') as f:
        f.write(whole)


def layout(path, layers, packed, media, lie=None, **extra):
    """An OCI image layout."""
    blobs = os.path.join(path, 'blobs', 'sha256')
    os.makedirs(blobs)

    def blob(data, kind):
        with open(os.path.join(blobs, sha(data)), 'wb') as f:
            f.write(data)
        return {'mediaType': kind, 'digest': 'sha256:' + sha(data), 'size': len(data)}
    v1 = 'application/vnd.oci.image.'
    rows = [blob(x, v1 + 'layer.v1.' + media) for x in packed]
    cfg = blob(config(layers, **extra), v1 + 'config.v1+json')
    m = blob(json.dumps({'schemaVersion': 2, 'config': cfg, 'layers': rows}).encode(), v1 + 'manifest.v1+json')
    if lie:
        with open(os.path.join(blobs, {'layer': rows[0], 'config': cfg, 'manifest': m}[lie]['digest'][7:]), 'ab') as f:
            f.write(b' ' if lie != 'layer' else b'\0' * 512)
    with open(os.path.join(path, 'index.json'), 'w') as f:
        json.dump({'schemaVersion': 2, 'manifests': [m]}, f)
    with open(os.path.join(path, 'oci-layout'), 'w') as f:
        f.write('{"imageLayoutVersion":"1.0.0"}')


def base():
    program = b''
    if not os.environ.get('NO_PROGRAM'):  # smaller, if no box is to start
        with open(shutil.which('busybox'), 'rb') as f:
            program = f.read()
    links = [entry('bin/' + n, kind=SYM, link='busybox') for n in
             'sh cat ls id env echo touch cp rm grep stat find wc sleep pwd readlink'.split()]
    return tar(entry('bin', kind=DIR), entry('bin/busybox', program), *links, entry('etc', kind=DIR),
               entry('etc/passwd', b'root:x:0:0::/root:/bin/sh\nweb:x:33:44::/:/bin/sh\n', mode=0o644),
               entry('etc/group', b'root:x:0:\nweb:x:44:\n', mode=0o644), entry('etc/gone', b'gone'),
               entry('old', kind=DIR), entry('old/lower', b'lower'), entry('usr', kind=DIR),
               entry('bin/tool', b'#!/bin/sh\necho tool 1.0\n'))


def octal_header(name, size, kind=b'0', claimed=None):
    h = bytearray(512)
    h[0:len(name)] = name
    h[100:108], h[108:116], h[116:124], h[124:136], h[136:148] = (b'0000755\0', b'0000000\0', b'0000000\0',
                                                                 b'%011o\0' % size, b'00000000000\0')
    h[156:157], h[257:265] = kind, b'ustar\00000'
    h[148:156] = b' ' * 8
    h[148:156] = b'%06o\0 ' % (sum(h) if claimed is None else claimed)
    return bytes(h)


def hostile(kind):
    """The second layer; the first is an honest one."""
    end = b'\0' * 1024
    e, t = entry, tar
    return {
        'absolute': lambda: t(e('/etc/evil', b'x')),
        'dots': lambda: t(e('a/../../evil', b'x')),
        'symlink-out': lambda: t(e('out', kind=SYM, link=os.environ['CANARY']), e('out/file', b'evil')),
        'symlink-up': lambda: t(e('up', kind=SYM, link='../../../../../..' + os.environ['CANARY']), e('up/file', b'evil')),
        'symlink-loop': lambda: t(e('l1', kind=SYM, link='l2'), e('l2', kind=SYM, link='l1'), e('l1/file', b'x')),
        'hardlink-out': lambda: t(e('hard', kind=LNK, link=os.environ['CANARY'] + '/file')),
        'hardlink-dots': lambda: t(e('hard', kind=LNK, link='../../../' + os.environ['CANARY'] + '/file')),
        'hardlink-through': lambda: t(e('way', kind=SYM, link=os.environ['CANARY']), e('hard', kind=LNK, link='way/file')),
        'hardlink-directory': lambda: t(e('hard', kind=LNK, link='etc')),
        'hardlink-missing': lambda: t(e('hard', kind=LNK, link='nothing/here')),
        'device': lambda: t(e('etc/null', kind=CHR, major=1, mode=0o666), e('etc/after', b'x')),
        'fifo': lambda: t(e('etc/pipe', kind=FIFO), e('etc/after', b'x')),
        'setuid': lambda: t(e('bin/su', b'#!/bin/sh\n', mode=0o6755), e('sticky', kind=DIR, mode=0o1777)),
        'owners': lambda: t(e('etc/shadow', b'secret', mode=0, uid=7), e('closed', kind=DIR, mode=0), e('closed/in', b'x')),
        'xattrs': lambda: t(e('bin/ping', b'x', pax={'SCHILY.xattr.security.capability': 'x', 'SCHILY.xattr.trusted.a': 'b',
                                                     'SCHILY.xattr.user.c': 'd'})),
        'whiteout-all': lambda: t(*[e('.wh.' + n) for n in ('bin', 'etc', 'old', 'usr')], e('.wh..wh..opq')),
        'whiteout-dots': lambda: t(e('.wh...')),
        'whiteout-empty': lambda: t(e('etc/.wh.')),
        'whiteout-directory': lambda: t(e('.wh.etc/passwd', b'x')),
        'whiteout-own': lambda: t(e('etc/new', b'n'), e('etc/.wh.new'), e('old', kind=DIR), e('old/upper', b'u'),
                                  e('old/.wh..wh..opq')),
        'duplicate': lambda: t(e('twice', b'first'), e('twice', b'second'), e('etc', kind=SYM, link='usr'), e('usr', b'a file'),
                               e('bin/cat', kind=DIR), e('bin/cat', kind=SYM, link='busybox')),
        'file-over-directory': lambda: t(e('old', b'now a file')),
        'below-file': lambda: t(e('etc/passwd/x', b'x')),
        'deep': lambda: t(e('/'.join(['d'] * 200), b'x')),
        'deep-links': lambda: t(*[x for n in range(9) for x in
                                  (e('s%d/' % n + 'd/' * 60 + 'x', b''), e('s%d' % n + '/d' * 60 + '/up', kind=SYM,
                                                                           link='/s%d' % (n + 1)))],
                                e('s0' + '/d' * 60 + '/up' + '/d' * 60 + '/up/f', b'x')),
        'long-part': lambda: t(e('a' * 300, b'x')),
        'long-path': lambda: t(e('/'.join(['a' * 200] * 30), b'x')),
        'pax-long': lambda: t(e('usr/' + '/'.join(['b' * 100] * 6), b'pax')),
        'gnu-long': lambda: t(e('usr/' + '/'.join(['b' * 100] * 6), b'gnu'), form=tarfile.GNU_FORMAT),
        'pax-size': lambda: t(e('etc/lie', b'x', pax={'size': '9999999999'})),
        'pax-size-bad': lambda: t(e('etc/lie', b'x', pax={'size': '-1'})),
        'pax-huge': lambda: octal_header(b'pax', 8 << 30, b'x') + end,
        'pax-record': lambda: octal_header(b'pax', 12, b'x') + b'99 path=abc\n'.ljust(512, b'\0') + end,
        'sparse': lambda: octal_header(b'sparse', 0, b'S') + end,
        'sparse-pax': lambda: t(e('s', b'x', pax={'GNU.sparse.major': '1', 'GNU.sparse.minor': '0'})),
        'unknown-type': lambda: octal_header(b'u', 0, b'Q') + end,
        'negative-size': lambda: octal_header(b'n', 0)[:124] + b'\xff' * 12 + octal_header(b'n', 0)[136:] + end,
        'size-beyond': lambda: octal_header(b'big', 0o7777777) + b'short'.ljust(512, b'\0'),
        'checksum': lambda: octal_header(b'sum', 0, claimed=1) + end,
        'truncated': lambda: t(e('etc/cut', b'x' * 4096))[:1500],
        'nul-name': lambda: t(e('etc/a', b'x', pax={'path': 'etc/a\0b'})),
        'in-dev': lambda: t(e('dev', kind=SYM, link=os.environ['CANARY']), e('dev/null', b'x'), e('proc/1', b'x')),
        'own-links': lambda: t(*[e('.wh.' + n) for n in ('etc',)], *[e(n, kind=SYM, link=os.environ['CANARY']) for n in
                                 ('dev', 'proc', 'sys', 'tmp', 'home', 'var')]),
    }[kind]()


def make(kind, path):
    b = base()
    if kind == 'tool':
        top = tar(entry('etc/.wh.gone'), entry('old', kind=DIR), entry('old/.wh..wh..opq'), entry('old/upper', b'upper'))
        return save(path, [b, top], Env=['TOOL=yes', 'PATH=/bin', 'HOME=/srv'], Entrypoint=['/bin/tool'], Cmd=['x'], User='web',
                    WorkingDir='/srv/app')
    if kind == 'gzip':
        return save(path, [b], packed=[gzip.compress(b[:8192]) + gzip.compress(b[8192:])])
    if kind == 'outer-gzip':
        make('tool', path)
        data = open(path, 'rb').read()
        return open(path, 'wb').write(gzip.compress(data, 1))
    if kind == 'odd-tags':
        odd = ['', ':', 'x', ':x', 'x:', '/etc:1', '../x:1', '-o:1', '--help:1', 'sha256:' + 'a' * 64, 'x@sha256:1', 'docker://x:1', 'a b:1', 'a\nb:1',
               '\x1b[2J:1', 'host:1/x', 'n' * 300 + ':1', 7, None, ['x:1'], 'tool:1', 'good.example:5000/a/tool:odd']
        return save(path, [b], tags=odd, Cmd=['tool'])
    if kind == 'layout':
        return layout(path, [b], [gzip.compress(b, 1)], 'tar+gzip', Cmd=['tool'])
    if kind == 'zstd':
        packed = subprocess.run(['zstd', '-q', '-c'], input=b, stdout=subprocess.PIPE, check=True).stdout
        return layout(path, [b], [packed], 'tar+zstd', Cmd=['tool'])
    if kind.startswith('lie-'):
        return layout(path, [b], [b], 'tar', lie=kind[4:])
    if kind == 'wrong-diff':
        return save(path, [b], cfg=config([b + b'x']))
    if kind == 'bomb':
        zero = octal_header(b'zero', 300 << 20)
        packed = gzip.compress(zero) + gzip.compress(bytes(1 << 20)) * 300
        return save(path, [zero], packed=[packed])
    if kind == 'million':
        return save(path, [b], packed=[gzip.compress(octal_header(b'g', 0, b'g') * 10) * 100001])
    if kind == 'thousand':
        small = tar(entry('x', b'x'))
        return save(path, [small] * 1000)
    if kind == 'two-images':
        make('tool', path)
        with tarfile.open(path, 'a') as t:
            for i, d in [entry('manifest.json', json.dumps([{'Config': 'a', 'Layers': []}] * 2).encode())]:
                t.addfile(i, io.BytesIO(d))
        return None
    if kind == 'outer-dots':
        cfg = config([b])
        m = json.dumps([{'Config': sha(cfg) + '.json', 'Layers': ['../../etc/passwd']}]).encode()
        return open(path, 'wb').write(tar(entry(sha(cfg) + '.json', cfg), entry('manifest.json', m)))
    if kind == 'outer-link':
        cfg = config([b])
        m = json.dumps([{'Config': sha(cfg) + '.json', 'Layers': ['a/layer.tar']}]).encode()
        return open(path, 'wb').write(tar(entry(sha(cfg) + '.json', cfg), entry('b/layer.tar', b),
                                          entry('a/layer.tar', kind=SYM, link='../b/layer.tar'), entry('manifest.json', m)))
    if kind == 'no-image':
        return open(path, 'wb').write(tar(entry('file', b'x')))
    if kind == 'bad-user':
        return save(path, [b], User='nobody-here')
    if kind == 'other-machine':
        return save(path, [b], cfg=config([b]).replace(machine.encode(), b'mips'))
    return save(path, [b, hostile(kind)])


if __name__ == '__main__':
    for n in range(1, len(sys.argv), 2):
        make(sys.argv[n], sys.argv[n + 1])
