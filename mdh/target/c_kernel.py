"""A kernel and the head of a file in C: the work-groups are the turns of a loop that OpenMP shares out."""

from collections.abc import Mapping
from math import prod

from mdh.ir.kernel import Buf, Kernel
from mdh.target.c import C
from mdh.target.dialect import Scope
from mdh.target.shared import Slot, shared_layout
from mdh.target.signature import assemble, scope_of

LINE = 64
"""Bytes that a packed buffer is aligned to: a line of the caches."""


def c_kernel(kernel: Kernel, entry: str, names: Mapping[str, str]) -> tuple[str, tuple[int, int]]:
    """The kernel's text and the bytes of packed buffers, which lie on the stack of each thread."""
    assert prod(kernel.launch.block) == 1, "on CPUs the threads of a group are loops"
    dialect = C()
    scope = scope_of(kernel, names)
    slots = shared_layout(kernel)
    params = [_parameter(b, scope) for b in kernel.buffers]
    params += [f"{dialect.value_type(dtype)} {scope.name(name)}" for name, dtype in kernel.scalars]
    first = [_local(s, scope, dialect) for s in slots]
    groups = prod(kernel.launch.grid)
    loop = (
        ()
        if groups == 1
        else ("#pragma omp parallel for schedule(dynamic)", f"for (int group = 0; group < {groups}; ++group)")
    )
    text = assemble(kernel, (), f"void {entry}", params, first, dialect, scope, loop)
    return text, (slots[-1].end if slots else 0, 0)


def c_prologue() -> str:
    return "#include <math.h>\n#include <stdint.h>\n"


def _parameter(buf: Buf, scope: Scope) -> str:
    const = "const " if buf.readonly else ""
    qualifier, restrict = ("volatile ", "") if buf.name in scope.spun else ("", "restrict ")
    return f"{qualifier}{const}{C().stored_type(buf.dtype)} *{restrict}{scope.name(buf.name)}"


def _local(slot: Slot, scope: Scope, dialect: C) -> str:
    buf = slot.buf
    return f"{dialect.aligned(LINE)}{dialect.element_type(buf)} {scope.name(buf.name)}[{slot.elements}];"
