"""Tensor cores in CUDA C++: each instruction is a small device function around a line of PTX."""

import re

from mdh.ir.atoms import ATOMS, WORD, Atom
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I32, U8
from mdh.ir.expr import Load
from mdh.ir.kernel import LoadMatrix, Mma
from mdh.target.clike import place
from mdh.target.dialect import Dialect, PrintScope

TYPES = {F16: "f16", BF16: "bf16", F32: "f32", F64: "f64", I8: "s8", U8: "u8", I32: "s32"}
"""As PTX calls them."""
KINDS = {F32: ("float", "f"), F64: ("double", "d"), I32: ("int", "r")}
"""In C, and the letter by which inline assembly names their registers."""
_PACKED = ("unsigned int", "r")
_BY_NAME = {f"mma_{a.name}": a for a in ATOMS}


def matrix_line(s: LoadMatrix | Mma, scope: PrintScope, dialect: Dialect) -> str:
    def registers(places: tuple[Load, ...]) -> str:
        return ", ".join(place(scope.buffers[p.buffer], p.index, scope, dialect) for p in places)

    if isinstance(s, Mma):
        return f"mma_{s.atom.name}({registers(s.acc)}, {registers(s.a)}, {registers(s.b)});"
    name = f"ldmatrix_x{len(s.dst)}{'_trans' if s.transposed else ''}"
    return f"{name}({registers(s.dst)}, &{place(scope.buffers[s.src], s.index, scope, dialect)});"


def matrix_function(name: str, inline: str) -> str | None:
    """The definition of a device function, or None where `name` is none of tensor cores."""
    if found := re.fullmatch(r"ldmatrix_x([124])(_trans)?", name):
        return _ldmatrix(name, int(found[1]), inline, transposed=found[2] is not None)
    return _mma(name, _BY_NAME[name], inline) if name in _BY_NAME else None


def _ldmatrix(name: str, count: int, inline: str, *, transposed: bool) -> str:
    registers = ", ".join(f"unsigned int &r{i}" for i in range(count))
    outputs = ", ".join(f'"=r"(r{i})' for i in range(count))
    slots = ", ".join(f"%{i}" for i in range(count))
    how = ".trans" if transposed else ""
    return f"""{inline} void {name}({registers}, const void *row)
{{
    asm volatile("ldmatrix.sync.aligned.m8n8.x{count}{how}.shared.b16 {{{slots}}}, [%{count}];"
                 : {outputs} : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}}
"""


def _mma(name: str, atom: Atom, inline: str) -> str:
    kind, letter = KINDS[atom.acc]
    factor, short = KINDS[F64] if atom.packed == 1 else _PACKED
    sizes = [atom.c.count, *(f.count * atom.left.bytes // WORD for f in (atom.a, atom.b))]
    if atom.packed == 1:
        sizes = [atom.c.count, atom.a.count, atom.b.count]
    params = [f"{kind} &c{i}" for i in range(sizes[0])]
    params += [f"{factor} {x}{i}" for x, n in zip("ab", sizes[1:], strict=True) for i in range(n)]
    slots, first = [], 0
    for n in sizes:
        slots.append("{" + ", ".join(f"%{first + i}" for i in range(n)) + "}")
        first += n
    types = ".".join(TYPES[t] for t in (atom.acc, atom.left, atom.right, atom.acc))
    shape = f"m{atom.m}n{atom.n}k{atom.k}"
    outputs = ", ".join(f'"+{letter}"(c{i})' for i in range(sizes[0]))
    inputs = ", ".join(f'"{short}"({x}{i})' for x, n in zip("ab", sizes[1:], strict=True) for i in range(n))
    half = sizes[0] + (sizes[1] + sizes[2]) // 2
    lines = [f"{inline} void {name}({', '.join(params[:half])}", f"        {', '.join(params[half:])})"]
    return f"""{lines[0]},
{lines[1]}
{{
    asm volatile("mma.sync.aligned.{shape}.row.col.{types}"
                 " {slots[0]}, {slots[1]}, {slots[2]}, {slots[0]};"
                 : {outputs}
                 : {inputs});
}}
"""
