"""A kernel and the head of a file in C: a function for a work-group, and a loop that OpenMP shares out."""

import re
from collections.abc import Mapping
from math import prod

from mdh.ir.kernel import Alloc, Buf, Kernel
from mdh.target.c import C
from mdh.target.c_helpers import STREAMED
from mdh.target.clike import POSTFIX
from mdh.target.clike import text as value
from mdh.target.dialect import PrintScope
from mdh.target.shared import shared_bytes_of, shared_layout
from mdh.target.signature import assemble, scope_of, wrapped
from mdh.target.statements import indented
from mdh.target.words import MATH

END = "}\n"


def c_kernel(kernel: Kernel, entry: str, names: Mapping[str, str]) -> tuple[str, tuple[int, int]]:
    """The kernel's text and the bytes of packed buffers, which lie on the stack of each thread."""
    assert prod(kernel.launch.block) == 1, "on CPUs the threads of a group are loops"
    dialect = C()
    scope = scope_of(kernel, names)
    slots = shared_layout(kernel)
    params = [_parameter(b, scope) for b in kernel.buffers]
    params += [f"{dialect.value_type(dtype)} {scope.name(name)}" for name, dtype in kernel.scalars]
    here = {s.buf.name for s in kernel.body if isinstance(s, Alloc)}
    first = [dialect.packed_array(s.buf, scope) for s in slots if s.buf.name in here]
    groups = prod(kernel.launch.grid)
    said = str(groups)
    if kernel.launch.counts:
        counts = [kernel.launch.count(a) for a in range(3) if kernel.launch.grid[a] > 1]
        said = " * ".join(value(n, scope, dialect, POSTFIX) for n in counts)
    if groups == 1:
        text = _ordered(assemble(kernel, (), f"void {entry}", params, first, dialect, scope))
    else:
        # a function of its own, since what OpenMP makes of a loop's body forgets `restrict`
        head, one = "static inline void", f"{entry}_group"
        counter = "int" if groups < 1 << 31 else "int64_t"
        text = assemble(kernel, (), f"{head} {one}", [*params, f"{counter} group"], first, dialect, scope)
        text = _ordered(text)
        named = [scope.name(n) for n in (*(b.name for b in kernel.buffers), *(n for n, _ in kernel.scalars))]
        text += "\n" + _shared_out(entry, one, params, named, said, counter)
    return text, (shared_bytes_of(slots), 0)


def _ordered(text: str) -> str:
    """Stores past the caches have happened when the group ends."""
    if not re.search(r"\bstream_\w+\(&", text):
        return text
    return f"{text.removesuffix(END)}    {STREAMED}();\n{END}"


def _shared_out(entry: str, one: str, params: list[str], named: list[str], groups: str, counter: str) -> str:
    """The kernel: groups in any order, each by one thread. groups: their number, which open sizes may give: a
    single one then wakes no other thread."""
    alone = "" if groups.isdecimal() else f" if({groups} > 1)"
    lines = [
        *wrapped(f"void {entry}", params),
        "{",
        f"    #pragma omp parallel for schedule(dynamic){alone}",
        f"    for ({counter} group = 0; group < {groups}; ++group)",
        *indented(indented(wrapped(one, [*named, "group"]))),
    ]
    return "\n".join(lines) + ";\n}\n"


def c_prologue(text: str) -> str:
    """The headers that `text` needs."""
    words = set(re.findall(r"\w+", text))
    floats = {name + end for name in MATH for end in ("", "f")} | {"INFINITY", "NAN"}
    return ("#include <math.h>\n" if words & floats else "") + "#include <stdint.h>\n"


def _parameter(buf: Buf, scope: PrintScope) -> str:
    const = "const " if buf.readonly else ""
    qualifier, restrict = ("volatile ", "") if buf.name in scope.spun else ("", "restrict ")
    return f"{qualifier}{const}{C().stored_type(buf.dtype)} *{restrict}{scope.name(buf.name)}"
