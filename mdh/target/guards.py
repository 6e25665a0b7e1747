"""The user's C with `#ifndef` around its own values of macros that are bound from outside."""

import re
from collections.abc import Iterator

_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)")
_IFNDEF = re.compile(r"[ \t]*#[ \t]*ifndef[ \t]+([A-Za-z_]\w*)[ \t]*(?:/[/*].*)?")
_COMMENT = re.compile(r"/\*.*?\*/|//.*", re.S)


def guarded(text: str, bound: frozenset[str]) -> str:
    """`text` for a compiler that has the macros `bound` already, to which it gives no other values."""
    out: list[str] = []
    before = ""
    for line in _directives(text):
        found = _DEFINE.match(line)
        name = found[1] if found else ""
        # the value behind `#ifndef NAME` is left out anyway
        kept = _IFNDEF.fullmatch(before)
        if name in bound and not (kept and kept[1] == name):
            end = "" if line.endswith("\n") else "\n"
            out += [f"#ifndef {name}\n", line + end, "#endif\n"]
        else:
            out.append(line)
        if line.strip():
            before = line.rstrip()
    return "".join(out)


def _directives(text: str) -> Iterator[str]:
    """Lines; one that ends in a backslash, or in a comment that goes on, has the next with it."""
    lines = iter(text.splitlines(keepends=True))
    for first in lines:
        line = first
        while _DEFINE.match(first) and (line.rstrip("\r\n").endswith("\\") or _open(line)):
            more = next(lines, None)
            if more is None:
                break
            line += more
        yield line


def _open(line: str) -> bool:
    return "/*" in _COMMENT.sub(" ", line)
