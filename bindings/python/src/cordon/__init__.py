# SPDX-License-Identifier: MIT
"""Run code nobody trusts in a box with no doors but the ones you open.

>>> import cordon
>>> with cordon.Box(read=["/etc/hostname"], time="10s") as box:
...     r = box.run(["sh", "-c", "echo hello; cat /etc/shadow"])
>>> r.stdout
'hello\\n'
>>> [d.what for d in r.denials if not d.minor or "shadow" in d.what]
['read /etc/shadow']
"""

from ._box import Box, Run, Session
from ._errors import Error, RunError
from ._library import version
from ._result import Denial, Result

__all__ = ["Box", "Run", "Session", "Result", "Denial", "Error", "RunError", "version"]
