"""Tensor cores in CUDA C++: each instruction is a small device function around a line of PTX.

Source of the instructions: PTX ISA, "Warp Level Matrix Instructions" and "Asynchronous Warpgroup Level Matrix
Instructions".
"""

import re
from dataclasses import replace
from math import prod
from typing import assert_never

from mdh.ir.atoms import ATOMS, WORD, Atom
from mdh.ir.dtype import BF16, F8E4M3, F8E5M2, F16, F32, F64, I8, I32, TF32, U8
from mdh.ir.expr import Load
from mdh.ir.matrix import (
    GroupMma,
    LoadMatrix,
    LoadWord,
    MatrixStmt,
    Mma,
    MmaCommit,
    MmaFence,
    MmaWait,
    SharedMatrix,
    StoreMatrix,
)
from mdh.target.clike import place, text
from mdh.target.dialect import Dialect, PrintScope
from mdh.target.signature import wrapped

TYPES = {
    F8E4M3: "e4m3", F8E5M2: "e5m2", F16: "f16", BF16: "bf16", TF32: "tf32", F32: "f32", F64: "f64",
    I8: "s8", U8: "u8", I32: "s32",
}  # fmt: skip
"""As PTX calls them."""
KINDS = {F32: ("float", "f"), F64: ("double", "d"), I32: ("int", "r")}
"""In C, and the letter by which inline assembly names their registers."""
_PACKED = ("unsigned int", "r")
_BY_NAME = {a.name: a for a in ATOMS}


def matrix_lines(s: MatrixStmt, scope: PrintScope, dialect: Dialect) -> list[str]:
    def registers(places: tuple[Load, ...]) -> str:
        return ", ".join(place(scope.buffers[p.buffer], p.index, scope, dialect) for p in places)

    match s:
        case LoadMatrix():
            name = f"ldmatrix_x{len(s.dst)}{'_trans' if s.transposed else ''}"
            return [f"{name}({registers(s.dst)}, &{place(scope.buffers[s.src], s.index, scope, dialect)});"]
        case LoadWord():
            return _word_lines(s, registers((s.dst,)), scope, dialect)
        case StoreMatrix():
            row = place(scope.buffers[s.dst], s.index, scope, dialect)
            return [f"stmatrix_x{s.count}(&{row}, &{registers((s.src,))});"]
        case Mma():
            return [f"mma_{s.atom.name}({registers(s.acc)}, {registers(s.a)}, {registers(s.b)});"]
        case GroupMma():
            return _group_lines(s, scope, dialect)
        case MmaFence(settled):
            if settled is None:
                return ["wgmma_fence();"]
            count = prod(scope.buffers[settled].shape)
            return [f"wgmma_settle<{count}>({settled});", "wgmma_fence();"]
        case MmaCommit():
            return ["wgmma_commit();"]
        case MmaWait(pending):
            return [f"wgmma_wait<{pending}>();"]
        case _:
            assert_never(s)


def _word_lines(s: LoadWord, register: str, scope: PrintScope, dialect: Dialect) -> list[str]:
    """Several elements are put together from single ones, which have fewer bytes than a word."""
    buf = scope.buffers[s.src]
    kind = "int" if len(s.places) == 1 else {1: "char", 2: "short"}[buf.dtype.bytes]
    terms = []
    for index, condition in zip(s.places, s.conditions, strict=True):
        term = f"*(const unsigned {kind} *)&{place(buf, index, scope, dialect)}"
        said = None if condition is None else text(condition, scope, dialect)
        terms.append(term if said is None else f"(({said}) ? {term} : 0u)")
    shifts = [f"{term} << {buf.dtype.bits * n}" if n else term for n, term in enumerate(terms)]
    lines = [f"{register} = {shifts[0]}", *(f"    | {term}" for term in shifts[1:])]
    return [*lines[:-1], f"{lines[-1]};"]


def _group_lines(s: GroupMma, scope: PrintScope, dialect: Dialect) -> list[str]:
    def registers(places: tuple[Load, ...]) -> str:
        return ", ".join(place(scope.buffers[p.buffer], p.index, scope, dialect) for p in places)

    turned = [int(not m.along_k) for m in s.shared] if s.atom.transposes else []
    said = ", ".join(map(str, (s.row, s.column, *turned)))
    held = (f"__float_as_uint({registers((p,))})" if p.dtype == F32 else registers((p,)) for p in s.held)
    factors = [*filter(None, [", ".join(held)]), *(_descriptor(m, scope, dialect) for m in s.shared)]
    given = (f"&{registers((s.acc,))},", f"{factors[0]},", f"{factors[1]});")
    name = f"wgmma_{s.atom.name}{'_registers' if s.held else ''}"
    if s.keep is None:
        return [f"{name}<{said}>(", *(f"    {x}" for x in given)]
    return [f"{name}_if<{said}>(", *(f"    {x}" for x in (f"{text(s.keep, scope, dialect)},", *given))]


def _descriptor(m: SharedMatrix, scope: PrintScope, dialect: Dialect) -> str:
    """The start is where the element would lie without a swizzle, which the hardware adds."""
    where = place(replace(scope.buffers[m.buffer], swizzle=0), m.index, scope, dialect)
    return f"shared_matrix<{m.swizzle}, {m.group}, {m.block}>(&{where})"


def matrix_function(name: str, inline: str) -> str | None:
    """The definition of a device function, or None where `name` is none of tensor cores."""
    if found := re.fullmatch(r"ldmatrix_x([124])(_trans)?", name):
        return _ldmatrix(name, int(found[1]), inline, transposed=found[2] is not None)
    if found := re.fullmatch(r"stmatrix_x([24])", name):
        return _stmatrix(name, int(found[1]), inline)
    if name in _GROUP_WORDS:
        return _GROUP_WORDS[name].replace("INLINE", inline)
    if name.startswith("wgmma_"):
        of = name.removeprefix("wgmma_").removesuffix("_if").removesuffix("_registers")
        return _wgmma(name, _BY_NAME[of], inline)
    atom = _BY_NAME.get(name.removeprefix("mma_")) if name.startswith("mma_") else None
    return None if atom is None else _mma(name, atom, inline)


_GROUP_WORDS = {
    "wgmma_fence": """INLINE void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
""",
    "wgmma_settle": """template <int count>
INLINE void wgmma_settle(float *c)
{
    #pragma unroll
    for (int i = 0; i < count; ++i)
        asm volatile("" : "+f"(c[i]));
}

template <int count>
INLINE void wgmma_settle(int *c)
{
    #pragma unroll
    for (int i = 0; i < count; ++i)
        asm volatile("" : "+r"(c[i]));
}
""",
    "wgmma_commit": """INLINE void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
""",
    "wgmma_wait": """template <int pending>
INLINE void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(pending) : "memory");
}
""",
    "shared_matrix": """template <int swizzle, int group, int block>
INLINE unsigned long long shared_matrix(const void *start)
{
    const unsigned long long mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : 3;
    return ((unsigned)__cvta_generic_to_shared(start) & 0x3ffff) >> 4 | (unsigned long long)block / 16 << 16
         | (unsigned long long)group / 16 << 32 | mode << 62;
}
""",
}


def _wgmma(name: str, atom: Atom, inline: str) -> str:
    """row, col: distances of the accumulators in their array, from a row to the one 8 further down, and from
    a column of the thread to its next one. A name with `_registers` takes the first factor in registers; one
    that ends in `_if` takes first whether the accumulators count."""
    kind, letter = KINDS[atom.acc]
    count = atom.c.count
    slots = _lines([f"%{v}" for v in range(count)], 12)
    outputs = _lines([f'"+{letter}"(c[{_accumulator(v)}])' for v in range(count)], 4)
    types = ".".join(TYPES[t] for t in (atom.acc, atom.left, atom.right))
    shape = f"m{atom.m}n{atom.n}k{atom.k}"
    words = [f"a{i}" for i in range(atom.a.count * atom.left.bytes // WORD)] if "_registers" in name else []
    turned = [f"{x}_transposed" for x in ("ab" if not words else "b")] if atom.transposes else []
    more = "".join(f", int {x}" for x in turned)
    end = count + (len(words) or 1)
    listed_turns = [f"%{end + 1 + i}" for i in range(len(turned))]
    scales = ", ".join(["1", *(["1", "1"] if atom.acc.is_float else []), *listed_turns])
    given = "".join(f', "n"({x})' for x in turned)
    left = "{" + ", ".join(f"%{count + i}" for i in range(len(words))) + "}" if words else f"%{count}"
    inputs = ", ".join(f'"r"({w})' for w in words) or '"l"(a)'
    before, after = "", ";"
    chosen = name.endswith("_if")
    if chosen:
        last = end + 1 + len(turned)
        before, after = f"{{\\n.reg .pred keep;\\nsetp.ne.b32 keep, %{last}, 0;\\n", ";\\n}"
        scales, given = scales.replace("1", "keep", 1), f'{given}, "r"((int)keep)'
    listed = ',"\n                 "  '.join(slots)
    kept = ",\n                   ".join(outputs)
    taken = [f"unsigned int {w}" for w in words] or ["unsigned long long a"]
    params = [f"{kind} *c", *taken, "unsigned long long b"]
    params = ["bool keep", *params] if chosen else params
    head = "\n".join(wrapped(f"{inline} void {name}", params))
    return f"""template <int row, int col{more}>
{head}
{{
    asm volatile("{before}wgmma.mma_async.sync.aligned.{shape}.{types}"
                 " {{{listed}}},"
                 " {left}, %{end}, {scales}{after}"
                 : {kept}
                 : {inputs}, "l"(b){given});
}}
"""


def _accumulator(v: int) -> str:
    """Where the thread's accumulator number v lies."""
    row, column = v // 2 % 2, v // 4 * 2 + v % 2
    terms = ["row"] if row else []
    terms += [] if column == 0 else ["col" if column == 1 else f"{column} * col"]
    return " + ".join(terms) or "0"


def _lines(items: list[str], most: int) -> list[str]:
    return [", ".join(items[i : i + most]) for i in range(0, len(items), most)]


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


def _stmatrix(name: str, count: int, inline: str) -> str:
    slots = ", ".join(f"%{i + 1}" for i in range(count))
    inputs = ", ".join(f'"r"(pairs[{i}])' for i in range(count))
    return f"""{inline} void {name}(void *row, const void *elements)
{{
    const unsigned int *const pairs = (const unsigned int *)elements;
    asm volatile("stmatrix.sync.aligned.m8n8.x{count}.shared.b16 [%0], {{{slots}}};"
                 :: "r"((unsigned)__cvta_generic_to_shared(row)), {inputs} : "memory");
}}
"""


def _mma(name: str, atom: Atom, inline: str) -> str:
    kind, letter = KINDS[atom.acc]
    factor, short = KINDS[F64] if atom.left == F64 else _PACKED
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
