# SPDX-License-Identifier: MIT
"""The policy of one session under one setting: from the classes of the tools, the prompt and the initial data. Of the ground truth it
takes the list of the task's tools, for task doors, and nothing else.

A label rule becomes two kinds of doors for a tool that acts: narrow ones that accept `untrusted`, for what the rule lets pass, and a
wide one that does not, so that everything else asks once the run has read a stranger's text.
"""
import re

from dojo import AMOUNT_MAX
from rules import CHAT, LETTERS, RULES, WEB, has_door

LIST_MAX = 10


def escaped(value):
    """A value of `one:`: a bar, a per cent sign, a quote and what the policy's text would not show plain stand as %XX."""
    return "".join(c if c.isascii() and c.isprintable() and c not in '|%"\\' else "".join(f"%{b:02X}" for b in c.encode())
                   for c in value)


def bound(tool, parameter, values, present=False):
    """NAME=TYPE; one that may have no value must be missing. None: no value would pass."""
    optional = parameter not in tool.required and not present
    values = sorted(v for v in values if v.isprintable())
    if not values:
        return f"{parameter}=none" if optional else None
    kind = "one:" + "|".join(escaped(v) for v in values)
    kind = f"list:{LIST_MAX}:{kind}" if tool.is_list(parameter) else kind
    return f'"{parameter}{"?" if optional else ""}={kind}"'


def people(tool, know, trust, present=False):
    """Bounds on whom it reaches, as one alternative in a list; [] if no call would pass."""
    words = []
    for p in tool.kind["whom"]:
        known = know.known if trust == "known" or p == "channel" else set()
        words.append(bound(tool, p, know.named | known, present and p == tool.kind["whom"][0]))
    return [] if None in words else [words]


def things(tool, know):
    """The same on the user's own things, which the prompt must name. A number is an alternative of its own."""
    own = tool.kind["own"]
    if own == ["id"]:
        return [[f"id=int:{n}..{n}"] for n in sorted({int(n) for n in re.findall(r"\d{1,9}", know.prompt)}) if know.names(n)]
    words = [bound(tool, p, know.named) for p in own]
    return [] if None in words else [words]


def pass_n(tool, know):
    if tool.kind["egress"] != "self":
        return people(tool, know, "known")
    return things(tool, know) if tool.kind["irreversible"] else [[]]


def pass_r(tool, know):
    if tool.kind["egress"] == "self":
        return things(tool, know) if tool.kind["irreversible"] else []
    if not tool.kind["whom"]:
        return things(tool, know)
    alone = [[f"{p}=none" for p in tool.kind["whom"]] + t for t in things(tool, know)] if tool.kind["own"] else []
    missing = tool.kind["whom"][0] not in tool.required
    return people(tool, know, "prompt" if tool.name in CHAT | WEB else "known", True) + (alone if missing else [])


def pass_r_text(tool, know):
    return [] if tool.name in LETTERS else pass_r(tool, know)


def pass_t(tool, know):
    empty = tool.kind.get("self_when_empty")
    return [[]] if tool.kind["egress"] == "self" else [[f"{empty}=none"]] if empty else []


def pass_s(tool, know):
    return []


# What a rule of rules.py lets pass, as alternatives of bounds.
PASSES = {"N": pass_n, "R": pass_r, "R+text": pass_r_text, "T": pass_t, "S": pass_s}
assert PASSES.keys() == RULES.keys()


def money(tool):
    amount = tool.kind.get("amount")
    return [f"{amount}{'' if amount in tool.required else '?'}=num:0.01..{AMOUNT_MAX}"] if amount else []


def door(tool, words, more=""):
    place = "query" if tool.method == "GET" else "body"
    reach = f"  reach {tool.kind['egress']}" if tool.kind["egress"] in ("named", "public") else ""
    touches = f"  touches {' '.join(tool.kind['touches'])}" if tool.kind["touches"] else ""
    where = f"  where {' '.join(words)} in {place}" if words else ""
    return f"net  @tools/{tool.name}  {tool.method}{reach}{touches}{where}{more}"


def gate(setting, how=""):
    """With nobody there it makes no difference how long an effect waits."""
    return f"  ask{how}" + (" within 1s" if setting.approver == "nobody" else "")


def labelled(setting, session, tool):
    """All tools of a suite are one service, so each accepts the service's own private data."""
    private = f"private:{session.suite.name}"
    words = [w for w, on in ((private, tool.kind["reads_private"]), ("untrusted", tool.kind["reads_untrusted"])) if on]
    label = f"  label {' '.join(words)}" if words else ""
    if not tool.is_effect:
        yield door(tool, [], f"{label}  accepts {private}")
        return
    passes = PASSES[setting.label](tool, session.knowledge())
    # An unbounded door that accepts both must be a source of that private data: what it gets back is its own (E146).
    own = label if private in words else f"  label {' '.join([private] + words)}"
    for words in passes:
        bounds = money(tool) + words
        yield door(tool, bounds, f"{label if bounds else own}  accepts {private} untrusted")
    if [] not in passes:
        yield door(tool, money(tool), f"{label}  accepts {private}{gate(setting, ' labelled')}")


def doors(setting, session, tool):
    if setting.label in PASSES:
        yield from labelled(setting, session, tool)
    elif setting.bounds and tool.is_effect:
        for words in people(tool, session.knowledge(), setting.bounds):
            yield door(tool, money(tool) + words)
    else:
        yield door(tool, [], gate(setting) if tool.is_effect and setting.label else "")


def policy(setting, session):
    lines = ["box  " + session.name.replace("/", "-").replace("_task_", ""), "use  base/python3", "in   plan  max 1M",
             "limit  time 5m"]
    for tool in session.suite.tools.values():
        if has_door(setting, session, tool):
            lines += doors(setting, session, tool)
    return "\n".join(lines) + "\n"
