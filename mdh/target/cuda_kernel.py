"""A kernel and the head of a file in CUDA C++."""

import re
from collections.abc import Mapping
from math import prod

from mdh.ir.copy_engine import SetRegisters
from mdh.ir.dtype import DType
from mdh.ir.kernel import Buf, Kernel
from mdh.ir.walk import statements
from mdh.target.cuda import STORAGE, Cuda
from mdh.target.cuda_copy_engine import MAP_TYPE, TENSOR_MAP
from mdh.target.cuda_helpers import CONSTANTS
from mdh.target.dialect import PrintScope
from mdh.target.names import fresh
from mdh.target.shared import STATIC_LIMIT, SharedSlot, overlaid, shared_bytes_of, shared_layout
from mdh.target.signature import assemble, scope_of

LEAST_ALIGN = 128
"""Bytes, of dynamic shared memory."""


def cuda_kernel(kernel: Kernel, entry: str, names: Mapping[str, str]) -> tuple[str, tuple[int, int]]:
    """The kernel's text and its (static, dynamic) bytes of shared memory."""
    scope = scope_of(kernel, names)
    slots = shared_layout(kernel)
    total = shared_bytes_of(slots)
    is_static = total <= STATIC_LIMIT
    apart = is_static and not overlaid(slots)
    first = [_static(s, scope) for s in slots] if apart else _in_one(slots, scope, total if is_static else 0)
    params = [_parameter(b, scope, early=kernel.launch.early) for b in kernel.buffers]
    params += [_scalar(name, dtype, scope) for name, dtype in kernel.scalars]
    params += [f"const __grid_constant__ {TENSOR_MAP} {scope.name(m.name)}" for m in kernel.maps]
    head = f'extern "C" __global__ void {_bounds(kernel)}'
    text = assemble(kernel, (head,), entry, params, first, Cuda(), scope)
    return text, ((total, 0) if is_static else (0, total))


def cuda_prologue(text: str) -> str:
    """Includes and constants that `text` needs; most texts need none."""
    words = set(re.findall(r"\w+", text))
    lines = []
    if any("half" in w and w.startswith("__") for w in words):
        lines.append("#include <cuda_fp16.h>\n")
    if any(w.startswith("__nv_cvt") for w in words):
        lines.append("#include <cuda_fp8.h>\n")
    if any("bfloat16" in w for w in words):
        lines.append("#include <cuda_bf16.h>\n")
    if TENSOR_MAP in words:
        lines.append(MAP_TYPE)
    for name, definition in CONSTANTS.items():
        if name in words:
            lines.append(f"#ifndef {name}\n{definition}#endif\n")
    return "".join(lines)


def _bounds(kernel: Kernel) -> str:
    launch = kernel.launch
    threads = prod(launch.block)
    # ptxas shares out registers among roles only where it knows how many a thread begins with
    shared = any(isinstance(s, SetRegisters) for s in statements(kernel.body))
    least = launch.min_blocks or int(shared)
    out = f"__launch_bounds__({threads}, {least})" if least else f"__launch_bounds__({threads})"
    if prod(launch.cluster) > 1:
        out += f" __cluster_dims__({', '.join(map(str, launch.cluster))})"
    return out


def _parameter(buf: Buf, scope: PrintScope, *, early: bool) -> str:
    """early: a kernel in front may write what this one reads, until it is awaited. Nothing is restricted
    then, lest the compiler find that the kernel itself writes none of it, and read it earlier."""
    const = "const " if buf.readonly else ""
    restrict = "" if buf.name in scope.spun or early else "__restrict__ "
    return f"{const}{STORAGE[buf.dtype.name]} *{restrict}{scope.name(buf.name)}"


def _scalar(name: str, dtype: DType, scope: PrintScope) -> str:
    return f"{Cuda().value_type(dtype)} {scope.name(name)}"


def _static(slot: SharedSlot, scope: PrintScope) -> str:
    buf = slot.buf
    align = f"__align__({slot.align}) " if slot.align > buf.dtype.bytes else ""
    return f"__shared__ {align}{STORAGE[buf.dtype.name]} {scope.name(buf.name)}[{slot.elements * buf.lanes}];"


def _in_one(slots: tuple[SharedSlot, ...], scope: PrintScope, static: int) -> list[str]:
    """Pointers into one array. static: its bytes; 0: the launch says how many."""
    align = max(LEAST_ALIGN, *(slot.align for slot in slots))
    # kernels of one text may declare the same name only with the same alignment
    name = "shared" if align == LEAST_ALIGN else f"shared_{align}"
    block = fresh(name, scope.names.values(), "cuda")
    storage, size = ("__shared__", static) if static else ("extern __shared__", "")
    out = [f"{storage} __align__({align}) unsigned char {block}[{size}];"]
    for slot in slots:
        kind = STORAGE[slot.buf.dtype.name]
        start = f"{block} + {slot.start}" if slot.start else block
        out.append(f"{kind} *const {scope.name(slot.buf.name)} = ({kind} *)({start});")
    return out
