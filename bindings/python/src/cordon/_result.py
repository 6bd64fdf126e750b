# SPDX-License-Identifier: MIT
"""The result of a run: how it ended, what it said, what was denied, and what it changed."""

from __future__ import annotations

import errno
import json
from dataclasses import dataclass, field
from typing import Any, Optional, Sequence, Union

from . import _library as lib
from ._errors import Error


@dataclass(frozen=True)
class Denial:
    """One effect that no door permits. `permit` is the door line that would permit it, or None."""

    what: str
    code: str
    reason: str
    why: str
    permit: Optional[str]
    path: Optional[str]
    program: Optional[str]
    count: int
    minor: bool
    next_steps: "tuple[str, ...]"


@dataclass(frozen=True)
class Result:
    """How a run ended. `returncode` is the status a shell would see: the command's own, 128+n for a signal,
    123 for output that is not what its door says, 124 for a limit, 125 if cordon failed."""

    end: str
    returncode: int
    stdout: Union[str, bytes]
    stderr: Union[str, bytes]
    denials: "tuple[Denial, ...]"
    raw: "dict[str, Any]" = field(repr=False)
    error: Optional[str] = None
    hint: Optional[str] = None
    work: Optional[str] = None

    @property
    def ok(self) -> bool:
        return self.end == "exited" and self.returncode == 0

    @property
    def run(self) -> str:
        """The run's id in the ledger."""
        return str(self.raw.get("run", ""))

    @property
    def limit(self) -> Optional[str]:
        """The limit that ended the run, or None."""
        limit: Optional[str] = self.raw.get("limit")
        return limit

    def raise_failure(self) -> None:
        """Raises Error if the box could not be started."""
        if self.end == "failed":
            raise Error(self.raw["error"]["code"], self.error or "", self.hint or "")

    def summary(self) -> str:
        """One line on the end, then a line for each denial that matters."""
        lines = [self.error or _end_in_words(self)]
        if self.hint:
            lines.append(self.hint)

        for d in self.denials:
            if not d.minor:
                lines.append(f"blocked: {d.what} ({d.why})" + (f"; to permit it: {d.permit}" if d.permit else ""))

        return "\n".join(lines)

    def diff(self) -> str:
        """The changes below edit doors, as a unified diff; "" if there are none."""
        return lib.work_diff(self.work) if self.work else ""

    def apply(self, paths: Optional[Sequence[str]] = None, *, include_flagged: bool = False) -> int:
        """Makes the changes on the host, all or those at and below `paths`. Returns how many were made."""
        return lib.work_apply(self.work, paths, include_flagged) if self.work else 0

    def discard(self) -> None:
        """Throws the changes away."""
        if self.work:
            lib.work_discard(self.work)


def _end_in_words(r: Result) -> str:
    if r.end == "limit":
        return f"stopped: the limit {r.limit} was reached"

    if r.end == "signaled":
        return f"killed by signal {r.raw.get('signal')}"

    return f"{r.end} with status {r.returncode}"


def _status(raw: "dict[str, Any]") -> int:
    if raw["end"] == "exited":
        return int(raw["exit"])

    if raw["end"] == "signaled":
        return 128 + int(raw["signal"])

    if raw["end"] == "limit":
        return 124

    if raw["end"] == "not-started":
        return 127 if raw["error"]["errno"] == errno.ENOENT else 126

    return 123 if (raw.get("error") or {}).get("errno") == errno.EBADMSG else 125


def result_from_json(text: str, out: Union[str, bytes], err: Union[str, bytes]) -> Result:
    raw = json.loads(text)
    error = raw.get("error") or {}
    denials = tuple(
        Denial(
            what=d["what"],
            code=d["code"],
            reason=d["reason"],
            why=d["why"],
            permit=d.get("permit"),
            path=d.get("path"),
            program=d.get("program"),
            count=d["count"],
            minor=bool(d.get("minor")),
            next_steps=tuple(d.get("next_steps", ())),
        )
        for d in raw.get("denials", ())
    )
    return Result(
        end=raw["end"],
        returncode=_status(raw),
        stdout=out,
        stderr=err,
        denials=denials,
        raw=raw,
        error=error.get("what"),
        hint=error.get("hint"),
        work=(raw.get("work") or {}).get("layer"),
    )
