# SPDX-License-Identifier: MIT
"""Boxes and their runs, for threads and for asyncio."""

from __future__ import annotations

import asyncio
import ctypes as c
import os
import signal
from typing import IO, Any, AsyncIterator, Iterable, Iterator, Mapping, Optional, Sequence, TypeVar, Union

from . import _library as lib
from ._errors import Error, RunError
from ._result import Result, result_from_json

_NAME, _CWD, _LEDGER, _STAGE = 0, 1, 9, 13  # enum cordon_option
_VIEW_DOORS = 0
_LIMITS = ("time", "cpu", "memory", "procs", "files", "disk", "output", "egress", "ingress", "effects", "rate", "renew")
_STREAMS = {1: "stdout", 2: "stderr"}

Doors = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]
Input = Union[bytes, str, int, IO[Any], None]
T = TypeVar("T")


def _each(doors: Doors) -> "list[str]":
    if isinstance(doors, (str, os.PathLike)):
        doors = [doors]

    return [os.fspath(d) for d in doors]


_DOORS = ("use", "read", "write", "edit", "run", "net", "sock", "listen", "local")
_TIMES = ("time", "cpu", "renew")


def door_words(env: "Mapping[str, Optional[str]]", named: "Mapping[str, Any]") -> "list[tuple[str, str]]":
    """Lines of a policy, each as a word and its argument. A time is a text, or a number of seconds."""
    unknown = sorted(set(named) - set(_DOORS) - set(_LIMITS))
    if unknown:
        raise TypeError(f"unknown door or limit {unknown[0]!r}; limits are {', '.join(_LIMITS)}")

    words = [(word, door) for word in _DOORS for door in _each(named.get(word, ()))]
    words += [("env", name if value is None else f"{name}={value}") for name, value in env.items()]
    for key in _LIMITS:
        value = named.get(key)
        if key in _TIMES and isinstance(value, (int, float)):
            value = f"{round(value * 1000)}ms"
        words += [("limit", f"{key} {value}")] if value is not None else []
    return words


def _set(handle: Optional[int], options: "Iterable[tuple[int, Optional[str]]]") -> None:
    for option, value in options:
        if value is not None and lib.library().cordon_box_set(handle, option, os.fsencode(value)) < 0:
            raise ValueError(f"bad value {value!r}")


class _Scope:
    """`with`, and `async with`."""

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError

    async def __aenter__(self: T) -> T:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.__exit__(*exc)


class _Starts(_Scope):
    """What starts commands runs them to their end as well."""

    def start(self, args: Sequence[str], **options: Any) -> Run:
        raise NotImplementedError

    def run(self, args: Sequence[str], *, check: bool = False, **options: Any) -> Result:
        """Runs a command to its end. With check=True a run that does not exit with status 0 raises RunError.

        Takes the options of start().
        """
        with self.start(args, **options) as run:
            result = run.wait()

        if check and not result.ok:
            raise RunError(result)

        return result

    async def _started(self, args: Sequence[str], options: "dict[str, Any]") -> Run:
        return self.start(args, drive=False, **options)

    async def _ended(self, run: Run) -> Result:
        return run.wait()

    async def run_async(self, args: Sequence[str], *, check: bool = False, **options: Any) -> Result:
        """run() for asyncio. Cancelling the task ends the box."""
        with await self._started(args, options) as run:
            async for _ in run:
                pass

            result = await self._ended(run)

        if check and not result.ok:
            raise RunError(result)

        return result


class Box(_Starts):
    """A policy, and runs in boxes of it: what no door opens is closed.

    Doors are the words of cordon.policy(5), each with one argument or a list of them: read, write, edit, run,
    net, sock, listen, use, local. `env` is a mapping (value None: pass the variable on), limits are `time`,
    `memory` and so on; a time is a text ("10s") or a number of seconds. `policy` is a file of door lines or the name of a
    stock policy, `lines` a text of them. With `url` (and `token`, or the variable CORDON_TOKEN) the runs are those of a
    `cordon serve --http` there: http://, https:// or unix:/PATH; `policy` is then one that it has registered.

    >>> box = Box(time="10s")
    >>> box.run(["echo", "hello"]).stdout
    'hello\\n'
    >>> box.run(["sh", "-c", "exit 3"]).returncode
    3
    >>> box.run(["tr", "a-z", "A-Z"], input="quiet").stdout
    'QUIET'
    >>> box.allows("net example.com:443")
    False
    >>> box.close()
    """

    def __new__(cls, *, url: Optional[str] = None, **_options: Any) -> Box:
        if url is not None and cls is Box:
            from ._remote import RemoteBox

            return object.__new__(RemoteBox)

        return object.__new__(cls)

    def __init__(
        self,
        *,
        url: Optional[str] = None,
        token: Optional[str] = None,
        read: Doors = (),
        write: Doors = (),
        edit: Doors = (),
        run: Doors = (),
        net: Doors = (),
        sock: Doors = (),
        listen: Doors = (),
        use: Doors = (),
        local: Doors = (),
        env: Optional[Mapping[str, Optional[str]]] = None,
        policy: Optional[str] = None,
        lines: Optional[str] = None,
        **limits: Union[str, int, float],
    ) -> None:
        doors = dict(use=use, read=read, write=write, edit=edit, run=run, net=net, sock=sock, listen=listen, local=local)
        words = door_words(env or {}, {**doors, **limits})
        self._runs: "set[Union[Run, Session]]" = set()
        self._context = lib.Context()
        self._policy: Optional[int] = lib.library().cordon_policy_new(self._context.handle)
        try:
            self._open(policy, lines, words)
        except BaseException:
            self.close()
            raise

    def _open(self, policy: Optional[str], lines: Optional[str], words: "list[tuple[str, str]]") -> None:
        so, e = lib.library(), lib.CError()
        if policy is not None and so.cordon_policy_add_file(self._policy, os.fsencode(policy), c.byref(e)) < 0:
            raise lib.error_of(e)

        if lines is not None:
            text = os.fsencode(lines)
            if so.cordon_policy_add_text(self._policy, b"lines", text, len(text), c.byref(e)) < 0:
                raise lib.error_of(e)

        for word, argument in words:
            if so.cordon_policy_add(self._policy, word.encode(), os.fsencode(argument), c.byref(e)) < 0:
                raise lib.error_of(e)

        if so.cordon_policy_check(self._policy, c.byref(e)) < 0:
            raise lib.error_of(e)

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _driven(self) -> "list[Optional[int]]":
        return []

    def close(self) -> None:
        """Ends what still runs and frees the box."""
        for run in list(self._runs):
            run.close()

        if self._policy:
            lib.library().cordon_policy_free(self._policy)
            self._policy = None

        self._context.close()

    def doors(self) -> str:
        """Every door in words, and the worst case."""
        e = lib.CError()
        text = lib.text_of(lib.library().cordon_policy_view(self._policy, _VIEW_DOORS, c.byref(e)))
        if text is None:
            raise lib.error_of(e)

        return text

    def why(self, effect: str) -> str:
        """Explains the decision about an effect: "read /etc/passwd", "net GET https://host/path"."""
        return self._decide(effect)[0]

    def allows(self, effect: str) -> bool:
        return self._decide(effect)[1]

    def _decide(self, effect: str) -> "tuple[str, bool]":
        e, allowed = lib.CError(), c.c_int()
        p = lib.library().cordon_policy_why(self._policy, os.fsencode(effect), 0, c.byref(allowed), c.byref(e))
        text = lib.text_of(p)
        if text is None:
            raise lib.error_of(e)

        return text, bool(allowed.value)

    def start(
        self,
        args: Sequence[str],
        *,
        input: Input = None,
        cwd: Optional[str] = None,
        name: Optional[str] = None,
        handles: Optional[Mapping[str, Union[int, IO[Any]]]] = None,
        stage: Optional[str] = None,
        ledger: Optional[str] = None,
        text: bool = True,
        drive: bool = True,
    ) -> Run:
        """Starts a command and returns when it runs. Iterate over the run to get its output as it comes. The limits hold
        while somebody does, or waits. With drive=False it returns at once, and the box starts in what follows.

        >>> with Box(time="10s") as box:
        ...     for stream, data in box.start(["sh", "-c", "echo out"]):
        ...         print(stream, data)
        stdout b'out\\n'
        """
        options = ((_NAME, name), (_CWD, cwd), (_STAGE, stage), (_LEDGER, ledger))
        handle = lib.library().cordon_box_new(self._policy)
        return Run(self, handle, args, input, dict(handles or {}), options, text, drive)

    def session(self, *, name: Optional[str] = None) -> Session:
        """Starts a box that stays, for many commands.

        >>> with Box(time="10s") as box, box.session() as s:
        ...     s.run(["sh", "-c", "echo kept >/tmp/file"]).returncode
        ...     s.run(["cat", "/tmp/file"]).stdout
        0
        'kept\\n'
        """
        return Session(self, ((_NAME, name),))


class Session(_Starts):
    """A box that stays: files, overlays and background processes are kept from command to command. Commands of
    one session are not protected from each other. end() returns the result of the whole, with what was changed.
    """

    def __init__(self, box: Box, options: "Iterable[tuple[int, Optional[str]]]") -> None:
        so, e = lib.library(), lib.CError()
        self._owner = box
        self._runs: "set[Run]" = set()
        self._result: Optional[Result] = None
        self._box: Optional[int] = so.cordon_box_new(box._policy)
        box._runs.add(self)
        try:
            _set(self._box, options)
            if so.cordon_session_start(self._box, c.byref(e)) < 0:
                raise lib.error_of(e)

            while not so.cordon_box_is_up(self._box):
                if so.cordon_box_wait(self._box, 100) != 0:
                    self._take_result()
                    raise Error("host", "the session ended at its start")
        except BaseException:
            self.close()
            raise

    def _driven(self) -> "list[Optional[int]]":
        return [self._box]

    def start(
        self,
        args: Sequence[str],
        *,
        input: Input = None,
        cwd: Optional[str] = None,
        name: Optional[str] = None,
        text: bool = True,
        drive: bool = True,
    ) -> Run:
        """Starts a command in the session, as Box.start() does."""
        if not self._box:
            raise Error("usage", "the session has ended", "start another one")

        handle = lib.library().cordon_session_run(self._box)
        return Run(self, handle, args, input, {}, ((_NAME, name), (_CWD, cwd)), text, drive)

    def _take_result(self) -> None:
        text = lib.text_of(lib.library().cordon_box_result_json(self._box)) or "{}"
        self._result = result_from_json(text, "", "")
        self._result.raise_failure()

    def end(self) -> Result:
        """Ends the session and what runs in it."""
        if self._box:
            for run in list(self._runs):
                run.close()

            lib.library().cordon_session_end(self._box)
            while lib.library().cordon_box_wait(self._box, -1) == 0:
                pass

            try:
                self._take_result()
            finally:
                self.close()

        if self._result is None:
            raise Error("usage", "the session has no result", "end() it before it is closed")

        return self._result

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._box:
            self.end()

    def close(self) -> None:
        """Ends it at once and frees it."""
        for run in list(self._runs):
            run.close()

        if self._box:
            lib.library().cordon_box_free(self._box)
            self._box = None

        self._owner._runs.discard(self)


class Run(_Scope):
    """One command in a box. Iterate (also with `async for`) for pieces of output: ("stdout", b"...")."""

    def __init__(
        self,
        owner: Union[Box, Session],
        handle: int,
        args: Sequence[str],
        input: Input,
        handles: "dict[str, Union[int, IO[Any]]]",
        options: "Iterable[tuple[int, Optional[str]]]",
        text: bool,
        drive: bool,
    ) -> None:
        self._owner, self._text = owner, text
        self._said: "dict[int, list[bytes]]" = {1: [], 2: []}
        self._news: "list[tuple[str, bytes]]" = []
        self._result: Optional[Result] = None
        self._over = False
        self._input = -1
        self._hear = lib.OUTPUT(self._heard)
        self._box: Optional[int] = handle
        owner._runs.add(self)
        try:
            self._begin(args, input, handles, options)
            while drive and not self._over and not lib.library().cordon_box_is_up(self._box):
                self._over = lib.library().cordon_box_wait(self._box, 100) != 0
        except BaseException:
            self.close()
            raise

    def _begin(
        self,
        args: Sequence[str],
        input: Input,
        handles: "dict[str, Union[int, IO[Any]]]",
        options: "Iterable[tuple[int, Optional[str]]]",
    ) -> None:
        if isinstance(args, (str, bytes)) or not args:
            raise TypeError("args is a list of words, such as ['sh', '-c', 'echo hello']")

        so, e = lib.library(), lib.CError()
        so.cordon_box_command(self._box, lib.names([os.fspath(a) for a in args]))
        so.cordon_box_on_output(self._box, self._hear, None)
        _set(self._box, options)
        so.cordon_box_stdio(self._box, 0, self._open_input(input))
        for name, file in handles.items():
            fd = file if isinstance(file, int) else file.fileno()
            if so.cordon_box_handle(self._box, os.fsencode(name), fd) < 0:
                raise ValueError(f"no handle {name!r} can be connected")

        if so.cordon_box_start_async(self._box, c.byref(e)) < 0:
            raise lib.error_of(e)

    def _open_input(self, input: Input) -> int:
        """A descriptor for the command's input. Bytes go into a file without a name, so nothing can block."""
        if input is None or isinstance(input, int):
            return -1 if input is None else input

        if hasattr(input, "fileno"):
            return int(input.fileno())

        data = input.encode() if isinstance(input, str) else bytes(input)
        self._input = os.memfd_create("input")
        with os.fdopen(os.dup(self._input), "wb") as f:
            f.write(data)

        os.lseek(self._input, 0, os.SEEK_SET)
        return self._input

    def _heard(self, _ctx: Any, stream: int, data: Any, n: int) -> None:
        piece = c.string_at(data, n)
        self._said[stream].append(piece)
        self._news.append((_STREAMS[stream], piece))

    def _take_news(self) -> "list[tuple[str, bytes]]":
        news, self._news = self._news, []
        return news

    def __iter__(self) -> "Iterator[tuple[str, bytes]]":
        yield from self._take_news()
        while not self._over:
            self._over = lib.library().cordon_box_wait(self._box, -1) != 0
            yield from self._take_news()

    async def __aiter__(self) -> "AsyncIterator[tuple[str, bytes]]":
        so, loop, wake = lib.library(), asyncio.get_running_loop(), asyncio.Event()
        driven = self._owner._driven() + [self._box]
        fds = [so.cordon_box_fd(b) for b in driven]
        for fd in fds:
            loop.add_reader(fd, wake.set)

        try:
            for piece in self._take_news():
                yield piece

            while not self._over:
                self._over = [so.cordon_box_step(b) for b in driven][-1] != 0
                for piece in self._take_news():
                    yield piece

                ms = [t for t in map(so.cordon_box_next_ms, driven) if t >= 0]
                if self._over or 0 in ms:
                    continue

                late = loop.call_later(min(ms) / 1000, wake.set) if ms else None
                await wake.wait()
                wake.clear()
                if late:
                    late.cancel()
        except BaseException:
            self.kill()
            raise
        finally:
            for fd in fds:
                loop.remove_reader(fd)

    def wait(self) -> Result:
        """Waits for the end and returns the result. Raises Error if the box could not be started."""
        if self._result is None:
            for _ in self:
                pass

            out, err = (b"".join(self._said[s]) for s in (1, 2))
            self._result = result_from_json(
                lib.text_of(lib.library().cordon_box_result_json(self._box)) or "{}",
                out.decode(errors="replace") if self._text else out,
                err.decode(errors="replace") if self._text else err,
            )

        self._result.raise_failure()
        return self._result

    def signal(self, number: int = signal.SIGTERM) -> None:
        """Sends a signal to the command's process group."""
        if self._box and not self._over:
            lib.library().cordon_box_signal(self._box, number)

    def kill(self) -> None:
        """Ends the box now."""
        if self._box and not self._over:
            lib.library().cordon_box_kill(self._box)

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the box if it still runs, and frees it. The result stays."""
        if self._box:
            lib.library().cordon_box_free(self._box)
            self._box = None
            self._over = True

        if self._input >= 0:
            os.close(self._input)
            self._input = -1

        self._owner._runs.discard(self)
