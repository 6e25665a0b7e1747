"""Functions, types and pragmas that OpenCL text may need; each is printed only where its name occurs."""

import re
from textwrap import wrap

from mdh.ir.dtype import BY_NAME, DType
from mdh.target.eighths import NAMES, opencl_function
from mdh.target.opencl import VALUE, stored_type
from mdh.target.operators import OPERATORS, combined, quotient, swizzle
from mdh.target.words import MATH

SIZES = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "float": 4} | {
    "long": 8, "ulong": 8, "double": 8
}  # fmt: skip


def helper(name: str) -> str | None:
    """The definition of `name`, or None where the text does not define it."""
    if found := re.fullmatch(rf"({'|'.join(SIZES)})(\d+)_u", name):
        kind = found[1] + found[2]
        return f"typedef {kind} __attribute__((aligned({SIZES[found[1]]}))) {name};\n"
    if found := re.fullmatch(r"(f16|bf16)_(to|from)_f32(?:x(\d+))?", name):
        lanes = found[3] or ""
        return _CONVERSIONS[found[1], found[2]].format(name=name, n=lanes)
    if found := re.fullmatch(rf"{NAMES}(?:x(\d+))?", name):
        return opencl_function(found[1], found[2], found[3] or "")
    if found := re.fullmatch(r"atomic_([a-z]+)_([a-z]+\d+)_(global|local)", name):
        return _atomic(name, OPERATORS[found[1]], BY_NAME[found[2]], found[3])
    if found := re.fullmatch(rf"({'|'.join(sorted(MATH))})_(f32|f64)x(\d+)", name):
        return _by_lanes(name, found[1], VALUE[found[2]], int(found[3]))
    return quotient(name, "inline") or swizzle(name, "inline")


_TAME = {"sin": "30000.0f", "cos": "30000.0f", "tan": "30000.0f"}
"""Below it vector functions are right that are wrong beyond."""
_TWO = ("pow", "fmax", "fmin", "fmod", "atan2", "hypot", "copysign", "fdim", "remainder")


def _by_lanes(name: str, function: str, kind: str, lanes: int) -> str:
    """`function` for each lane, where the vector function is wrong: everywhere, or where a lane is large."""
    names = ("a", "b", "c")[: 3 if function == "fma" else 2 if function in _TWO else 1]
    params = ", ".join(f"{kind}{lanes} {n}" for n in names)
    calls = ", ".join(f"{function}({', '.join(f'{n}.s{i:x}' for n in names)})" for i in range(lanes))
    tame = _TAME.get(function) if kind == "float" else None
    short = f"    if (all(isless(fabs(a), {tame})))\n        return {function}(a);\n" if tame else ""
    rows = wrap(calls, 96, initial_indent="        ", subsequent_indent="        ", break_on_hyphens=False)
    listed = "\n".join(rows)
    return f"""// the vector function of some runtimes lets a large lane spoil the others
inline {kind}{lanes} {name}({params})
{{
{short}    return ({kind}{lanes})(
{listed});
}}
"""


_CONVERSIONS = {
    ("f16", "to"): """inline float{n} {name}(ushort{n} bits)
{{
    return vload_half{n}(0, (const half *)&bits);
}}
""",
    ("f16", "from"): """inline ushort{n} {name}(float{n} x)
{{
    ushort{n} bits;
    vstore_half{n}_rte(x, 0, (half *)&bits);
    return bits;
}}
""",
    ("bf16", "to"): """inline float{n} {name}(ushort{n} bits)
{{
    return as_float{n}(convert_uint{n}(bits) << 16);
}}
""",
    ("bf16", "from"): """inline ushort{n} {name}(float{n} x)
{{
    const uint{n} bits = as_uint{n}(x);
    const uint{n} rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return convert_ushort{n}(isnan(x) ? bits >> 16 | 0x40 : rounded);
}}
""",
}


def _atomic(name: str, op: str, dtype: DType, space: str) -> str:
    if dtype.bits < 32:
        return _atomic_narrow(name, op, dtype, space)
    kind = VALUE[dtype.name]
    word, swap = ("uint", "atomic_cmpxchg") if dtype.bits == 32 else ("ulong", "atom_cmpxchg")
    return f"""inline {kind} {name}(volatile __{space} {kind} *p, {kind} value)
{{
    volatile __{space} {word} *const word = (volatile __{space} {word} *)p;
    {word} seen = {swap}(word, 0, 0), old;
    do {{
        old = seen;
        const {kind} held = as_{kind}(old);
        seen = {swap}(word, old, as_{word}(({kind})({combined(op, "held", "value")})));
    }} while (seen != old);
    return as_{kind}(old);
}}
"""


def _atomic_narrow(name: str, op: str, dtype: DType, space: str) -> str:
    """Elements narrower than a word are exchanged with the aligned word around them."""
    value, stored = VALUE[dtype.name], stored_type(dtype)
    lane = "uchar" if dtype.bits == 8 else "ushort"
    old, new = f"({value})(old >> shift)", f"({lane})({combined(op, 'held', 'value')})"
    if dtype.is_float:
        old = f"{dtype.name}_to_f32((ushort)(old >> shift))"
        new = f"{dtype.name}_from_f32({combined(op, 'held', 'value')})"
    mask = (1 << dtype.bits) - 1
    return f"""inline {value} {name}(volatile __{space} {stored} *p, {value} value)
{{
    volatile __{space} uint *const word = (volatile __{space} uint *)((size_t)p & ~(size_t)3);
    const int shift = (int)((size_t)p & 3) * 8;
    uint seen = atomic_cmpxchg(word, 0, 0), old;
    do {{
        old = seen;
        const {value} held = {old};
        const uint now = {new};
        seen = atomic_cmpxchg(word, old, (old & ~({mask:#x}u << shift)) | (now << shift));
    }} while (seen != old);
    return {old};
}}
"""
