"""The head of a kernel and the scope its body is printed in."""

from collections.abc import Mapping

from mdh.hardware import Space
from mdh.ir.expr import Expr, Load, walk
from mdh.ir.kernel import Alloc, Kernel, While
from mdh.ir.matrix import GroupMma
from mdh.ir.ranges import Known
from mdh.ir.walk import loaded, statements, stored
from mdh.target.dialect import Dialect, PrintScope
from mdh.target.statements import INDENT, WIDTH, block, indented
from mdh.target.widest import widest_lanes


def scope_of(kernel: Kernel, names: Mapping[str, str]) -> PrintScope:
    """Parameters and shared buffers; register buffers join where they are declared."""
    shared = [s.buf for s in statements(kernel.body) if isinstance(s, Alloc) and s.buf.space is Space.SM]
    buffers = {b.name: b for b in (*kernel.buffers, *kernel.constants, *shared)}
    grouped = any(isinstance(s, GroupMma) for s in statements(kernel.body))
    return PrintScope(
        kernel, buffers, names, Known.of(kernel.launch), widest_lanes(kernel), spun_buffers(kernel), grouped,
        _handed(kernel),
    )  # fmt: skip


def spun_buffers(kernel: Kernel) -> frozenset[str]:
    """DM buffers that other blocks write while this kernel runs: marked so, or waited on by some loop."""
    waits = [s.cond for s in statements(kernel.body) if isinstance(s, While)]
    loads = {n.buffer for cond in waits for n in walk(cond) if isinstance(n, Load)}
    return frozenset(b.name for b in kernel.buffers if b.volatile or b.name in loads)


def _handed(kernel: Kernel) -> bool:
    """Whether some element of DM is written and read by statements that do not name it alike: a term of a
    reduction may read the element that it adds to."""
    own = {b.name for b in kernel.buffers}
    every = list(statements(kernel.body))
    written: dict[str, set[tuple[Expr, ...]]] = {}
    for a in (a for s in every for a in stored(s) if a.buffer in own):
        written.setdefault(a.buffer, set()).add(a.index)
    reads = (a for s in every for a in loaded(s) if a.buffer in written)
    return any(a.index not in written[a.buffer] for a in reads)


def assemble(
    kernel: Kernel, head: tuple[str, ...], call: str, params: list[str], first: list[str], dialect: Dialect,
    scope: PrintScope,
) -> str:  # fmt: skip
    """Comment, head lines, `call(params)` wrapped at 110 columns, and the braced body."""
    comment = [f"// {line}".rstrip() for line in kernel.comment.splitlines()]
    lines = block(kernel.body, scope, dialect)
    body = [out for line in indented([*first, *lines]) for out in _broken(line)]
    return "\n".join([*comment, *head, *wrapped(call, params), "{", *body, "}", ""])


def _broken(line: str) -> list[str]:
    """A long statement goes on in indented lines, broken after an operator or a comma."""
    indent = line[: len(line) - len(line.lstrip())] + INDENT * 2
    out = []
    while len(line) > WIDTH and not line.lstrip().startswith(("//", "#")) and "  //" not in line:
        far, near = len(indent) + 20, len(indent) + 1
        at = _last_break(line, far) or _last_break(line, near) or _last_break(line, near, RARE_BREAKS)
        if at <= len(indent):
            break
        out.append(line[:at])
        line = indent + line[at + 1 :]
    return [*out, line]


BREAKS = (" = ", " += ", " + ", ", ", " ? ", " : ", " && ")
RARE_BREAKS = (" < ", " <= ", " > ", " >= ", " || ", " - ", " * ")
"""Where nothing else is left."""


def _last_break(line: str, start: int, gaps: tuple[str, ...] = BREAKS) -> int:
    """Where the line can end from column `start` on, 0: nowhere."""
    found = {gap: line.rfind(gap, start, WIDTH) for gap in gaps}
    return max(at + len(gap) - 1 if at >= 0 else 0 for gap, at in found.items())


def wrapped(call: str, params: list[str]) -> list[str]:
    """`call(params)` in lines of at most 110 columns."""
    line = f"{call}({', '.join(params)})"
    if len(line) <= WIDTH:
        return [line]
    lines, current = [], f"{call}("
    for i, param in enumerate(params):
        piece = param + (")" if i == len(params) - 1 else ",")
        if len(current) + len(piece) + 1 > WIDTH and not current.endswith("("):
            lines.append(current.rstrip())
            current = INDENT * 2
        gap = "" if current.endswith(("(", INDENT)) else " "
        current += gap + piece
    return [*lines, current]
