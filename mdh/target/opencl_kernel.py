"""A kernel and the head of a file in OpenCL C 1.2."""

import re
from collections.abc import Mapping

from mdh.ir.kernel import Buf, Kernel
from mdh.target.dialect import PrintScope
from mdh.target.names import fresh
from mdh.target.opencl import OpenCL, stored_type
from mdh.target.shared import SharedSlot, overlaid, shared_bytes_of, shared_layout
from mdh.target.signature import assemble, scope_of

_WIDEST = re.compile(r"\b(?:(?:float|u?int)16|(?:double|u?long)8)\b")
_WHOLE = "__attribute__((min_vector_width(512)))"
"""Without it, LLVM splits vectors of 64 bytes for processors whose clock they lower, also between loads and
stores of whole ones. Products of 512 to 1024 cubed become up to 15 % faster by it on a Xeon with AVX-512."""


def opencl_kernel(kernel: Kernel, entry: str, names: Mapping[str, str]) -> tuple[str, tuple[int, int]]:
    """The kernel's text and its (static, dynamic) bytes of local memory; dynamic is always 0."""
    dialect = OpenCL()
    scope = scope_of(kernel, names)
    slots = shared_layout(kernel)
    params = [_parameter(b, scope) for b in kernel.buffers]
    params += [f"{dialect.value_type(dtype)} {scope.name(name)}" for name, dtype in kernel.scalars]
    size = ", ".join(map(str, kernel.launch.block))
    head = f"__kernel __attribute__((reqd_work_group_size({size})))"
    local = _in_one if overlaid(slots) else _apart
    first = local(slots, scope, dialect)
    text = assemble(kernel, (head,), f"void {entry}", params, first, dialect, scope)
    if _WIDEST.search(text):
        text = text.replace(head, f"{head} {_WHOLE}", 1)
    return text, (shared_bytes_of(slots), 0)


def opencl_prologue(text: str, *, strict_fp: bool) -> str:
    """Extensions and pragmas that `text` needs."""
    words = set(re.findall(r"\w+", text))
    lines = []
    if any(w.startswith(("double", "convert_double")) for w in words):
        lines.append("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n")
    if words & {"atom_add", "atom_cmpxchg"}:
        lines.append("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n")
    if strict_fp:
        lines.append("#pragma OPENCL FP_CONTRACT OFF\n")
    return "".join(lines)


def _parameter(buf: Buf, scope: PrintScope) -> str:
    const = "const " if buf.readonly else ""
    qualifier, restrict = ("volatile ", "") if buf.name in scope.spun else ("", "restrict ")
    return f"{qualifier}__global {const}{stored_type(buf.dtype)} *{restrict}{scope.name(buf.name)}"


def _apart(slots: tuple[SharedSlot, ...], scope: PrintScope, dialect: OpenCL) -> list[str]:
    return [_local(s, scope, dialect) for s in slots]


def _in_one(slots: tuple[SharedSlot, ...], scope: PrintScope, dialect: OpenCL) -> list[str]:
    """Pointers into one array, for buffers of which some lie in the same place."""
    block = fresh("shared", scope.names.values(), "opencl")
    align = max(slot.align for slot in slots)
    out = [f"__local {dialect.aligned(align)}uchar {block}[{shared_bytes_of(slots)}];"]
    for slot in slots:
        kind = dialect.element_type(slot.buf)
        start = f"{block} + {slot.start}" if slot.start else block
        out.append(f"__local {kind} *const {scope.name(slot.buf.name)} = (__local {kind} *)({start});")
    return out


def _local(slot: SharedSlot, scope: PrintScope, dialect: OpenCL) -> str:
    buf = slot.buf
    align = dialect.aligned(slot.align) if slot.align > buf.dtype.bytes else ""
    return f"__local {align}{dialect.element_type(buf)} {scope.name(buf.name)}[{slot.elements}];"
