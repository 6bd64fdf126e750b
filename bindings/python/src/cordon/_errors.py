# SPDX-License-Identifier: MIT
"""What can go wrong, with the next thing to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._result import Result


class Error(Exception):
    """cordon itself failed: `what` is one sentence, `hint` the next thing to do, `code` is stable."""

    def __init__(self, code: str, what: str, hint: str = "") -> None:
        super().__init__(f"{what}\n{hint}" if hint else what)
        self.code, self.what, self.hint = code, what, hint


class RunError(Exception):
    """A run with check=True did not end with exit status 0. `result` has everything that is known of it."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.summary())
        self.result = result
