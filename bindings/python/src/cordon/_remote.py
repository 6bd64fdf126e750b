# SPDX-License-Identifier: MIT
"""Boxes of a `cordon serve` by URL, with the classes of local ones."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import os
import socket
import time
import urllib.parse
from typing import IO, Any, AsyncIterator, Iterator, Mapping, Optional, Sequence, Union

from ._box import Box, Input, Run, Session, door_words
from ._errors import Error
from ._result import Denial, Result

_RETRIES = 5
_PART = 8 << 20


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Client:
    """Requests to one server. `url` is http://, https:// or unix:/PATH."""

    def __init__(self, url: str, token: Optional[str], timeout: float = 60.0) -> None:
        self._url, self._timeout = url, timeout
        self._token = token or os.environ.get("CORDON_TOKEN", "")
        self._parts = urllib.parse.urlsplit(url)
        if not url.startswith("unix:/") and self._parts.scheme not in ("http", "https"):
            raise ValueError(f"{url!r} is not http://, https:// or unix:/PATH")

    def _connect(self, timeout: Optional[float]) -> http.client.HTTPConnection:
        if self._url.startswith("unix:"):
            return _UnixConnection(self._url[5:], timeout)  # type: ignore[arg-type]

        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=timeout)

    def send(
        self, method: str, path: str, body: Any = None, headers: "Optional[dict[str, str]]" = None, stream: bool = False
    ) -> http.client.HTTPResponse:
        """One request, and its answer with the body unread. An error answer raises Error."""
        said = {"Authorization": f"Bearer {self._token}", "Connection": "close", **(headers or {})}
        if body is not None:
            said["Content-Type"] = "application/json"
        link = self._connect(None if stream else self._timeout)
        try:
            link.request(method, path, None if body is None else json.dumps(body), said)
            answer = link.getresponse()
        except OSError as x:
            raise Error("host", f"{self._url}: {x}", "is `cordon serve --http` running there?") from x

        if answer.status >= 400:
            raise _problem(answer)

        return answer

    def ask(self, method: str, path: str, body: Any = None, headers: "Optional[dict[str, str]]" = None) -> Any:
        with self.send(method, path, body, headers) as answer:
            return json.loads(answer.read())


def _problem(answer: http.client.HTTPResponse) -> Error:
    try:
        said = json.loads(answer.read())
        return Error(str(said["type"]).rpartition(":")[2], said["detail"], said.get("hint", ""))
    except (ValueError, KeyError, TypeError):
        return Error("host", f"the server answered {answer.status} {answer.reason}")


class RemoteResult(Result):
    """As a local one; its changes are on the server."""

    _client: Client

    def diff(self) -> str:
        if not self.work:
            return ""

        with self._client.send("GET", f"/v1/changes/{self.work}?form=text") as answer:
            return answer.read().decode(errors="replace")

    def apply(self, paths: Optional[Sequence[str]] = None, *, include_flagged: bool = False) -> int:
        if paths is not None:
            raise Error("usage", "a server applies all changes of a run or none")

        said = self.work and self._client.ask("POST", f"/v1/changes/{self.work}/apply", {"flagged": include_flagged})
        return int(said["applied"]) if said else 0

    def discard(self) -> None:
        if self.work:
            self._client.ask("DELETE", f"/v1/changes/{self.work}")


def _result(client: Client, raw: "dict[str, Any]", out: Union[str, bytes], err: Union[str, bytes]) -> RemoteResult:
    error = raw.get("error") or {}
    denials = tuple(
        Denial(
            what=d["effect"],
            code=d["code"],
            reason=d["reason"],
            why=d["why"],
            permit=d.get("permit"),
            path=None,
            program=None,
            count=d["count"],
            minor=False,
            next_steps=(),
        )
        for d in raw.get("blocked", ())
    )
    result = RemoteResult(
        end=raw["end"],
        returncode=raw["status"],
        stdout=out,
        stderr=err,
        denials=denials,
        raw=raw,
        error=error.get("message"),
        hint=error.get("hint"),
        work=raw.get("changes"),
    )
    object.__setattr__(result, "_client", client)
    return result


class RemoteRun(Run):
    """A run on a server. It goes on if the connection breaks: the rest of its events follows."""

    def __init__(self, client: Client, order: "dict[str, Any]", text: bool) -> None:
        self._client, self._text = client, text
        self._pieces: "dict[str, list[bytes]]" = {"stdout": [], "stderr": []}
        self._result = None
        self._raw: "Optional[dict[str, Any]]" = None
        self._after = ""
        self._over = False
        self.id: str = client.ask("POST", "/v1/runs", order, {"Prefer": "respond-async"})["id"]

    def _lines(self) -> "Iterator[tuple[str, dict[str, Any]]]":
        """Events that have not been seen."""
        headers = {"Last-Event-ID": self._after} if self._after else {}
        name = data = ""
        with self._client.send("GET", f"/v1/runs/{self.id}/events", headers=headers, stream=True) as answer:
            for line in answer:
                key, _, value = line.decode().rstrip("\n").partition(": ")
                if key == "event":
                    name = value
                elif key == "data":
                    data = value
                elif key == "id":
                    self._after = value
                elif not key and name:
                    yield name, json.loads(data)
                    name = ""

    def __iter__(self) -> "Iterator[tuple[str, bytes]]":
        for attempt in range(_RETRIES):
            if self._over:
                return

            try:
                for name, said in self._lines():
                    if name == "output":
                        piece = base64.b64decode(said["base64"])
                        self._pieces[said["stream"]].append(piece)
                        yield said["stream"], piece
                    elif name == "end":
                        self._raw, self._over = said, True
            except (OSError, http.client.HTTPException):
                if attempt == _RETRIES - 1:
                    raise

        if not self._over:
            raise Error("host", f"the events of run {self.id} end before it does")

    async def __aiter__(self) -> "AsyncIterator[tuple[str, bytes]]":
        pieces = iter(self)
        try:
            while True:
                piece = await asyncio.to_thread(next, pieces, None)
                if piece is None:
                    return

                yield piece
        except BaseException:
            self.kill()
            raise

    def _whole(self, stream: str) -> bytes:
        """Events have the beginning of long output."""
        data = b"".join(self._pieces[stream])
        size = int((self._raw or {}).get(f"{stream}_bytes", 0))
        while len(data) < size:
            part = {"Range": f"bytes={len(data)}-{min(size, len(data) + _PART) - 1}"}
            with self._client.send("GET", f"/v1/runs/{self.id}/{stream}", headers=part) as answer:
                more = answer.read()
            if not more:
                break
            data += more

        return data

    def wait(self) -> Result:
        if self._result is None:
            for _ in self:
                pass

            out, err = self._whole("stdout"), self._whole("stderr")
            self._result = _result(
                self._client,
                self._raw or {},
                out.decode(errors="replace") if self._text else out,
                err.decode(errors="replace") if self._text else err,
            )

        if self._result.end in ("failed", "interrupted") or (self._result.end == "not-started" and self._result.returncode == 125):
            raise Error((self._result.raw.get("error") or {}).get("code", "host"), self._result.error or "", self._result.hint or "")

        return self._result

    def signal(self, number: int = 15) -> None:
        if number not in (9, 15):
            raise Error("usage", "a run on a server can be ended, and gets no other signal")

        self.kill()

    def kill(self) -> None:
        if not self._over:
            self._client.ask("DELETE", f"/v1/runs/{self.id}")

    def close(self) -> None:
        if not self._over:
            self.kill()
            self._over = True


def _order(args: Sequence[str], input: Input, cwd: Optional[str]) -> "dict[str, Any]":
    if isinstance(args, (str, bytes)) or not args:
        raise TypeError("args is a list of words, such as ['sh', '-c', 'echo hello']")

    order: "dict[str, Any]" = {"argv": [os.fspath(a) for a in args], "output": "base64"}
    if hasattr(input, "read"):
        input = input.read()  # type: ignore[union-attr]
    if isinstance(input, int):
        with os.fdopen(os.dup(input), "rb") as f:
            input = f.read()
    if input:
        data = input.encode() if isinstance(input, str) else bytes(input)  # type: ignore[arg-type]
        order["stdin_base64"] = base64.b64encode(data).decode()
    if cwd is not None:
        order["cwd"] = cwd
    return order


class _Waits:
    """Requests wait in a thread, not in the loop of asyncio."""

    async def _started(self, args: Sequence[str], options: "dict[str, Any]") -> Run:
        run: Run = await asyncio.to_thread(self.start, args, **options)  # type: ignore[attr-defined]
        return run

    async def _ended(self, run: Run) -> Result:
        return await asyncio.to_thread(run.wait)

    async def __aexit__(self, *exc: object) -> None:
        await asyncio.to_thread(self.__exit__, *exc)  # type: ignore[attr-defined]


class RemoteBox(_Waits, Box):
    """Box(url=...): runs on a server, within what its operator lets the token's tenant do. `policy` names a registered
    one; doors and limits are lines within the tenant's ceiling."""

    def __init__(
        self,
        *,
        url: Optional[str] = None,
        token: Optional[str] = None,
        policy: Optional[str] = None,
        lines: Optional[str] = None,
        env: Optional[Mapping[str, Optional[str]]] = None,
        labels: Optional[Mapping[str, str]] = None,
        timeout: float = 60.0,
        **doors: Any,
    ) -> None:
        if any(value is None for value in (env or {}).values()):
            raise ValueError("a variable is passed on to a server with its value")

        words = door_words({}, doors)
        if policy is not None and (lines is not None or words):
            raise ValueError("a run on a server has `policy`, or doors within the tenant's ceiling")

        self._client = Client(url or "", token, timeout)
        self._order: "dict[str, Any]" = {}
        if policy is not None:
            self._order["policy"] = policy
        if lines is not None or words:
            self._order["lines"] = (lines or "") + "".join(f"{word} {argument}\n" for word, argument in words)
        if env:
            self._order["env"] = dict(env)
        if labels:
            self._order["labels"] = dict(labels)

    def close(self) -> None:
        pass

    def doors(self) -> str:
        if "lines" in self._order:
            return str(self._order["lines"])

        return str(self._client.ask("GET", f"/v1/policies/{self._order.get('policy', 'default')}")["doors"])

    def _decide(self, effect: str) -> "tuple[str, bool]":
        raise Error("usage", "a server does not explain decisions before a run", "a run reports what was blocked, and why")

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
        if name or handles or stage or ledger:
            raise Error("usage", "`name`, `handles`, `stage` and `ledger` are for local boxes")

        return RemoteRun(self._client, {**self._order, **_order(args, input, cwd)}, text)

    def session(self, *, name: Optional[str] = None) -> Session:
        return RemoteSession(self._client, self._order.get("policy", "default"))


class RemoteSession(_Waits, Session):
    """A box that stays on a server."""

    def __init__(self, client: Client, policy: str) -> None:
        self._client = client
        self._result = None
        self.id: str = client.ask("POST", "/v1/sessions", {"policy": policy})["id"]
        self._open = True

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
        if not self._open:
            raise Error("usage", "the session has ended", "start another one")

        return RemoteRun(self._client, {"session": self.id, **_order(args, input, cwd)}, text)

    def end(self) -> Result:
        if self._result is None:
            self.close()
            said = self._client.ask("GET", f"/v1/sessions/{self.id}")
            for _ in range(600):
                if said["state"] == "ended":
                    break
                time.sleep(0.05)
                said = self._client.ask("GET", f"/v1/sessions/{self.id}")
            self._result = _result(self._client, {"end": "exited", "status": 0, **said}, "", "")

        return self._result

    def __exit__(self, *_exc: object) -> None:
        self.end()

    def close(self) -> None:
        if self._open:
            self._open = False
            self._client.ask("DELETE", f"/v1/sessions/{self.id}")
