# SPDX-License-Identifier: MIT
"""libcordon by ctypes: the functions this package uses, and errors as exceptions. Results come as JSON, so
that only few structures have to match cordon.h."""

from __future__ import annotations

import ctypes as c
import os
from typing import Any, Optional, Sequence

from ._errors import Error

_ABI = 1


class CError(c.Structure):
    _fields_ = [
        ("code", c.c_uint16),
        ("step", c.c_uint16),
        ("sys", c.c_int32),
        ("what", c.c_char * 376),
        ("hint", c.c_char * 248),
    ]


SINK = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(c.c_char), c.c_size_t)
OUTPUT = c.CFUNCTYPE(None, c.c_void_p, c.c_int, c.POINTER(c.c_char), c.c_size_t)
_NAMES = c.POINTER(c.c_char_p)


class CDiff(c.Structure):
    _fields_ = [
        ("run", c.c_char_p),
        ("form", c.c_int),
        ("colour", c.c_int),
        ("verbose", c.c_int),
        ("paths", _NAMES),
        ("theirs", _NAMES),
        ("out", SINK),
        ("out_ctx", c.c_void_p),
        ("progress", c.c_void_p),
        ("progress_ctx", c.c_void_p),
    ]


class CApply(c.Structure):
    _fields_ = [
        ("run", c.c_char_p),
        ("paths", _NAMES),
        ("all_but", _NAMES),
        ("include_flagged", c.c_int),
        ("flagged", _NAMES),
        ("to", c.c_char_p),
        ("out", SINK),
        ("out_ctx", c.c_void_p),
        ("effect", c.c_void_p),
        ("effect_ctx", c.c_void_p),
        ("no_ledger", c.c_int),
        ("json", c.c_int),
        ("patch", c.c_void_p),
        ("patch_ctx", c.c_void_p),
        ("progress", c.c_void_p),
        ("progress_ctx", c.c_void_p),
    ]


class COutcome(c.Structure):
    _fields_ = [
        ("run", c.c_char * 64),
        ("applied", c.c_size_t),
        ("held", c.c_size_t),
        ("conflicts", c.c_size_t),
        ("closed", c.c_size_t),
        ("approval", c.c_char * 128),
    ]


_E = c.POINTER(CError)
_P = c.c_void_p
_S = c.c_char_p
_PROTOTYPES: "dict[str, tuple[Any, list[Any]]]" = {
    "cordon_context_new": (_P, [_NAMES]),
    "cordon_context_free": (None, [_P]),
    "cordon_policy_new": (_P, [_P]),
    "cordon_policy_free": (None, [_P]),
    "cordon_policy_add": (c.c_int, [_P, _S, _S, _E]),
    "cordon_policy_add_text": (c.c_int, [_P, _S, _S, c.c_size_t, _E]),
    "cordon_policy_add_file": (c.c_int, [_P, _S, _E]),
    "cordon_policy_check": (c.c_int, [_P, _E]),
    "cordon_policy_why": (_P, [_P, _S, c.c_int, c.POINTER(c.c_int), _E]),
    "cordon_policy_view": (_P, [_P, c.c_int, _E]),
    "cordon_box_new": (_P, [_P]),
    "cordon_box_free": (None, [_P]),
    "cordon_box_command": (c.c_int, [_P, _NAMES]),
    "cordon_box_set": (c.c_int, [_P, c.c_int, _S]),
    "cordon_box_stdio": (None, [_P, c.c_int, c.c_int]),
    "cordon_box_on_output": (None, [_P, OUTPUT, c.c_void_p]),
    "cordon_box_handle": (c.c_int, [_P, _S, c.c_int]),
    "cordon_box_start_async": (c.c_int, [_P, _E]),
    "cordon_box_is_up": (c.c_int, [_P]),
    "cordon_session_start": (c.c_int, [_P, _E]),
    "cordon_session_run": (_P, [_P]),
    "cordon_session_end": (None, [_P]),
    "cordon_box_step": (c.c_int, [_P]),
    "cordon_box_wait": (c.c_int, [_P, c.c_int]),
    "cordon_box_fd": (c.c_int, [_P]),
    "cordon_box_next_ms": (c.c_int, [_P]),
    "cordon_box_signal": (None, [_P, c.c_int]),
    "cordon_box_kill": (None, [_P]),
    "cordon_box_result_json": (_P, [_P]),
    "cordon_work_diff": (c.c_int, [_P, c.POINTER(CDiff), c.POINTER(c.c_size_t), _E]),
    "cordon_work_apply": (c.c_int, [_P, c.POINTER(CApply), c.POINTER(COutcome), _E]),
    "cordon_work_discard": (c.c_int, [_P, _S, c.c_int, SINK, c.c_void_p, c.c_char * 64, _E]),
    "cordon_version": (_S, []),
    "cordon_error_name": (_S, [c.c_int]),
    "cordon_free": (None, [_P]),
}

_loaded: "list[c.CDLL]" = []


def library() -> c.CDLL:
    """Loads libcordon once: the file that CORDON_LIBRARY names, or the installed one."""
    if not _loaded:
        name = os.environ.get("CORDON_LIBRARY") or f"libcordon.so.{_ABI}"
        try:
            so = c.CDLL(name)
        except OSError as x:
            raise Error("host", f"cannot load {name}: {x}", "install cordon, or let CORDON_LIBRARY name the file") from x

        for function, (result, arguments) in _PROTOTYPES.items():
            f = getattr(so, function)
            f.restype, f.argtypes = result, arguments

        _loaded.append(so)

    return _loaded[0]


def version() -> str:
    """The version of libcordon."""
    return str(library().cordon_version().decode())


def names(values: Sequence[str]) -> Any:
    """A NULL-terminated array of strings."""
    return (c.c_char_p * (len(values) + 1))(*[os.fsencode(v) for v in values], None)


def error_of(e: CError) -> Error:
    code = library().cordon_error_name(e.code) or b"unknown"
    return Error(code.decode(), e.what.decode(errors="replace"), e.hint.decode(errors="replace"))


def text_of(p: Optional[int]) -> Optional[str]:
    """Takes over a string that libcordon returned."""
    if not p:
        return None

    text = c.string_at(p).decode(errors="replace")
    library().cordon_free(p)
    return text


class Context:
    """The caller's environment as it is now, for as long as something was made with it."""

    def __init__(self) -> None:
        self._environ = names([f"{k}={v}" for k, v in os.environ.items()])
        self.handle = library().cordon_context_new(self._environ)

    def close(self) -> None:
        if self.handle:
            library().cordon_context_free(self.handle)
            self.handle = None


def work_diff(run: str) -> str:
    pieces: "list[bytes]" = []
    sink = SINK(lambda _ctx, data, n: pieces.append(c.string_at(data, n)))
    entries, e, cx = c.c_size_t(), CError(), Context()
    try:
        o = CDiff(run=os.fsencode(run), out=sink)
        if library().cordon_work_diff(cx.handle, c.byref(o), c.byref(entries), c.byref(e)) < 0:
            raise error_of(e)
    finally:
        cx.close()

    return b"".join(pieces).decode(errors="replace")


def work_apply(run: str, paths: Optional[Sequence[str]], include_flagged: bool) -> int:
    done, e, cx = COutcome(), CError(), Context()
    try:
        o = CApply(run=os.fsencode(run), include_flagged=int(include_flagged))
        if paths is not None:
            kept = names(paths)
            o.paths = c.cast(kept, _NAMES)

        if library().cordon_work_apply(cx.handle, c.byref(o), c.byref(done), c.byref(e)) < 0:
            raise error_of(e)
    finally:
        cx.close()

    return int(done.applied)


def work_discard(run: str) -> None:
    gone, e, cx = (c.c_char * 64)(), CError(), Context()
    try:
        if library().cordon_work_discard(cx.handle, os.fsencode(run), 0, SINK(), None, gone, c.byref(e)) < 0:
            raise error_of(e)
    finally:
        cx.close()
