# SPDX-License-Identifier: MIT
# The driver of a warm python3: started in a parked box as `python3 DRIVER LINE MODULE...`, it imports the modules,
# waits for the arguments of its one run on the socket LINE, and becomes what `python3 ARGUMENTS` would be. It is part
# of the payload: nothing outside trusts it. Whatever it cannot do exactly, it leaves to a new python3 by exec.
def drive(main):
    import os
    import sys

    line = int(sys.argv[1])
    own = main['__file__']
    safe_path = getattr(sys.flags, 'safe_path', sys.flags.isolated)
    del main['drive']
    if not safe_path:
        sys.path.pop(0)  # this file's directory

    def say(text):
        os.write(line, text.encode('utf-8', 'replace')[:200])

    # What a module prints when it is loaded belongs to no run.
    def load(names):
        import importlib
        null = os.open(os.devnull, os.O_WRONLY)
        saved = [os.dup(1), os.dup(2)]
        os.dup2(null, 1)
        os.dup2(null, 2)
        for name in names:
            importlib.import_module(name)
        sys.stdout.flush()
        sys.stderr.flush()
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        for fd in [null] + saved:
            os.close(fd)

    # The length of the rest, then words that end with NUL.
    def take_order():
        packet = os.read(line, 1 << 17)
        if not packet:
            os._exit(0)
        left = int.from_bytes(packet[:4], sys.byteorder)
        words = packet[4:]
        while len(words) < left:
            packet = os.read(line, 1 << 17)
            if not packet:
                os._exit(0)
            words += packet
        os.close(line)
        return [os.fsdecode(w) for w in words[:left].split(b'\0')[:-1]]

    def absolute(path):
        return path if path.startswith('/') else os.getcwd() + '/' + path

    # The text of a plain file; None: a directory, an archive, no file at all.
    def read_script(path):
        try:
            with open(path, 'rb') as f:
                text = f.read()
        except OSError:
            return None
        return None if path.endswith('.pyc') or b'PK\x05\x06' in text[-65557:] else text

    def compiled(text, name):
        try:
            return compile(text, name, 'exec', 0, True)
        except BaseException:
            return None

    def enter(path0, argv):
        if not safe_path:
            sys.path.insert(0, path0)
        sys.argv[:] = argv

    def be_of_text():
        main['__loader__'] = sys.modules['_frozen_importlib'].BuiltinImporter

    def be_of_no_file():
        be_of_text()
        for name in '__file__', '__cached__':
            main.pop(name, None)

    # The forms of a command. Each returns what is called with which arguments.
    def script(argv):
        path = absolute(argv[1])
        text = read_script(path)
        code = None if text is None else compiled(text, path)
        if code is None:
            os.execv(sys.executable, argv)
        enter(os.path.dirname(os.path.realpath(path)), argv[1:])
        main['__file__'] = path
        main['__loader__'] = type(main['__loader__'])('__main__', path)
        return exec, code, names

    def command(argv):
        text = argv[2] + '\n'
        code = compiled(text, '<string>')
        if code is None:
            os.execv(sys.executable, argv)
        if sys.version_info >= (3, 13):
            import linecache
            getattr(linecache, '_register_code', lambda *a: None)(code, text, '<string>')
        enter('', ['-c'] + argv[3:])
        be_of_no_file()
        return exec, code, names

    def standard_input(argv):
        text = sys.stdin.buffer.read()
        code = compiled(text, '<stdin>')
        enter('', argv[1:] or [''])
        be_of_text()
        main['__file__'] = '<stdin>'
        return (exec, code, names) if code else (compile, text, '<stdin>', 'exec', 0, True)

    def module(argv):
        import runpy
        enter(os.getcwd(), ['-m'] + argv[3:])
        be_of_no_file()
        return runpy._run_module_as_main, argv[2]

    def prepare():
        words = take_order()
        argv = words[1:]
        first = argv[1] if len(argv) > 1 else ''
        if words[0] == '1':
            os.dup2(1, 2)
        if hasattr(sys, 'orig_argv'):
            sys.orig_argv[:] = argv
        form = {'-c': command, '-m': module, '-': standard_input, '': standard_input}.get(first, script)
        todo = form(argv)
        names.clear()
        names.update(main)
        if '__annotations__' in names:
            names['__annotations__'] = {}
        return todo

    # An exception goes to the interpreter's own report and exit status, without our frames.
    def run(call, *args):
        try:
            return call(*args)
        except SystemExit:
            raise
        except BaseException as e:
            error = e
        frames = error.__traceback__
        while frames and frames.tb_frame.f_code.co_filename == own:
            frames = frames.tb_next
        theirs = getattr(sys, 'excepthook', None)

        def hook(kind, value, _):
            sys.excepthook = theirs
            value.__traceback__ = sys.last_traceback = frames
            return theirs(kind, value, frames)

        if theirs:
            sys.excepthook = hook
        raise error

    names = sys.modules['__main__'].__dict__
    try:
        load(sys.argv[2:])
        say('R')
    except BaseException as e:
        say('E%s: %s' % (type(e).__name__, e))
        os._exit(1)
    run(*prepare())


drive(dict(globals()))
