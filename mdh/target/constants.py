"""Constant arrays in kernel text: declarations at the top of the file."""

from collections.abc import Mapping
from dataclasses import dataclass

from mdh.hardware import CacheHint, Engine
from mdh.ir.expr import Load, walk
from mdh.ir.kernel import Buf, Module, Move
from mdh.ir.walk import expressions, statements
from mdh.target.c import VALUE
from mdh.target.cuda import STORAGE
from mdh.target.literals import literal
from mdh.target.names import rename
from mdh.target.opencl import stored_type
from mdh.target.statements import INDENT, WIDTH

CONSTANT_MEMORY = 64 << 10
"""Bytes of CUDA's constant memory."""
ALIGN = 64


@dataclass(frozen=True, slots=True)
class ConstantsText:
    """names: of the arrays in the text, by their names in the program. text: their declarations."""

    names: Mapping[str, str]
    text: str


def constants_of(module: Module, taken: tuple[str, ...]) -> ConstantsText:
    """The constant arrays that kernels of the module read. taken: names that the text has already."""
    arrays = {b.name: b for k in module.kernels for b in k.constants}
    names = dict(rename(arrays, module.target, taken))
    plain = _read_plainly(module, arrays)
    lines = [_declared(b, names[b.name], module.target, small=plain) for b in arrays.values()]
    return ConstantsText(names, "\n".join(lines))


def _read_plainly(module: Module, arrays: Mapping[str, Buf]) -> bool:
    """Whether constant memory can hold the arrays: they are small, and all accesses are of single elements
    and without hints, which are for global memory."""
    if sum(b.bytes for b in arrays.values()) > CONSTANT_MEMORY:
        return False
    for k in module.kernels:
        for s in statements(k.body):
            if isinstance(s, Move) and s.src in arrays and not _is_plain(s):
                return False
            if any(
                isinstance(n, Load) and n.buffer in arrays and n.lanes > 1
                for e in expressions(s)
                for n in walk(e)
            ):
                return False
    return True


def _is_plain(s: Move) -> bool:
    return s.lanes == 1 and s.cache is CacheHint.DEFAULT and s.engine is Engine.PLAIN


def _declared(buf: Buf, name: str, language: str, *, small: bool) -> str:
    match language:
        case "cuda":
            head = (
                f"{'__constant__' if small else '__device__ const'} __align__(16) {STORAGE[buf.dtype.name]}"
            )
            suffix = "LL"
        case "opencl":
            head, suffix = f"__constant {stored_type(buf.dtype)}", "L"
        case _:
            head, suffix = f"static const _Alignas({ALIGN}) {VALUE[buf.dtype.name]}", "L"
    assert buf.values is not None
    lines = [f"{head} {name}[{len(buf.values)}] = {{"]
    line = ""
    for value in buf.values:
        word = f"{literal(value, buf.dtype, suffix)}, "
        if len(INDENT) + len(line) + len(word) > WIDTH:
            lines.append(INDENT + line.rstrip())
            line = ""
        line += word
    return "\n".join([*lines, INDENT + line.rstrip(" ,"), "};", ""])
