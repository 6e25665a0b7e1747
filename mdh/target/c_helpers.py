"""Types and functions that C texts may need; each is printed only where its name occurs.

Functions on vectors are loops over lanes, since C's operators `?:`, `&&` and `!` take no vectors: compilers
make one instruction of them where there is one, if the loop is marked, lest it is unrolled first.
"""

import re

from mdh.ir.dtype import BY_NAME, F32, F64, DType
from mdh.target.blas import blas_helper
from mdh.target.c import VALUE
from mdh.target.eighths import NAMES, c_function
from mdh.target.operators import OPERATORS, combined, swizzle
from mdh.target.sums import DEFINITION, IN_ORDER

_VECTOR = r"(?:f32|f64|[iu](?:8|16|32|64))x\d+"
_INTEGER = r"[iu](?:8|16|32|64)"


def helper(name: str) -> str | None:
    """The definition of `name`, or None where the text does not define it."""
    if re.fullmatch(_VECTOR + "(_u)?", name):
        return _type(name)
    if found := re.fullmatch(rf"(all|pick)_({_VECTOR})", name):
        return _all(found[2]) if found[1] == "all" else _pick(found[2])
    if found := re.fullmatch(f"stream_({_VECTOR})", name):
        return _stream(found[1])
    if found_call := blas_helper(name):
        return found_call
    if name == STREAMED:
        return _STREAMED
    if name == IN_ORDER:
        return DEFINITION
    if found := re.fullmatch(r"(f16|bf16)_(to|from)_f32", name):
        return _CONVERSIONS[found[1], found[2]]
    if found := re.fullmatch(NAMES, name):
        return c_function(found[1], found[2])
    if found := re.fullmatch(rf"({NAMES}|(f16|bf16)_(to|from)_f32)x(\d+)", name):
        bits = BY_NAME[found[2] or found[4]].bits
        given, made = (f"u{bits}", "f32") if "to" in (found[3], found[5]) else ("f32", f"u{bits}")
        return _by_lanes(name, found[1], made, (given,), int(found[6]))
    if found := re.fullmatch(r"atomic_([a-z]+)_([a-z]+\d+)", name):
        return _atomic(name, OPERATORS[found[1]], BY_NAME[found[2]])
    if found := re.fullmatch(rf"(min|max|abs)_({_INTEGER})", name):
        return _integer(name, found[1], VALUE[found[2]])
    if found := re.fullmatch(rf"((?:min|max|abs)_({_INTEGER})|[a-z]\w*)_x(\d+)", name):
        return _function(name, found[1], found[2], int(found[3]))
    return swizzle(name, "static inline")


def _parts(vector: str) -> tuple[DType, int]:
    kind, _, lanes = vector.partition("x")
    return BY_NAME[kind], int(lanes)


def _type(name: str) -> str:
    dtype, lanes = _parts(name.removesuffix("_u"))
    loose = f", aligned({dtype.bytes})" if name.endswith("_u") else ""
    size = dtype.bytes * lanes
    return f"typedef {VALUE[dtype.name]} {name} __attribute__((vector_size({size}){loose}, may_alias));\n"


def _all(vector: str) -> str:
    dtype, lanes = _parts(vector)
    return f"""static inline {vector} all_{vector}({VALUE[dtype.name]} x)
{{
    return ({vector}){{{", ".join(["x"] * lanes)}}};
}}
"""


def _pick(vector: str) -> str:
    dtype, lanes = _parts(vector)
    mask = f"i{dtype.bits}x{lanes}"
    return f"""static inline {vector} pick_{vector}({mask} mask, {vector} a, {vector} b)
{{
    {vector} out;
    #pragma omp simd
    for (int i = 0; i < {lanes}; ++i)
        out[i] = mask[i] ? a[i] : b[i];
    return out;
}}
"""


STREAMED = "stream_fence"
_STREAMED = f"""static inline void {STREAMED}(void)
{{
#ifdef __SSE__
    __builtin_ia32_sfence();  // stores past the caches are ordered by this alone
#endif
}}
"""
_CHUNK = 16
"""Bytes that a machine with vectors stores past the caches at once; it puts lines together from such parts,
and allocators align arrays to so many."""


def _stream(vector: str) -> str:
    """Past the caches, where the machine can and the place is aligned."""
    dtype, lanes = _parts(vector)
    size = dtype.bytes * lanes
    past = ""
    if size % _CHUNK == 0:
        past = f"""#if defined __SSE__
    if ((uintptr_t)place % {_CHUNK} == 0) {{
        const f32x4 *const parts = (const f32x4 *)&value;
        #pragma GCC unroll {size // _CHUNK}
        for (int i = 0; i < {size // _CHUNK}; ++i)
#if defined __clang__
            __builtin_nontemporal_store(parts[i], (f32x4 *)place + i);
#else
            __builtin_ia32_movntps((float *)place + 4 * i, parts[i]);
#endif
        return;
    }}
#endif
"""
    return f"""static inline void stream_{vector}({VALUE[dtype.name]} *place, {vector} value)
{{
{past}    *({vector}_u *)place = value;
}}
"""


def _by_lanes(name: str, function: str, made: str, given: tuple[str, ...], lanes: int) -> str:
    """`function` for each lane. made, given: element types of the result and of the arguments."""
    names = "abc"[: len(given)]
    params = ", ".join(f"{kind}x{lanes} {n}" for kind, n in zip(given, names, strict=True))
    args = ", ".join(f"{n}[i]" for n in names)
    return f"""static inline {made}x{lanes} {name}({params})
{{
    {made}x{lanes} out;
    #pragma omp simd
    for (int i = 0; i < {lanes}; ++i)
        out[i] = {function}({args});
    return out;
}}
"""


_TWO = ("pow", "fmax", "fmin", "fmod", "atan2", "hypot", "copysign", "fdim")
_ARGUMENTS = dict.fromkeys(_TWO, 2) | {"fma": 3}
"""Of the functions that take more than one."""


def _function(name: str, function: str, integer: str | None, lanes: int) -> str:
    if integer is not None:
        count = 1 if function.startswith("abs") else 2
        return _by_lanes(name, function, integer, (integer,) * count, lanes)
    single = function.endswith("f") and function != "erf"
    kind = (F32 if single else F64).name
    count = _ARGUMENTS.get(function.removesuffix("f") if single else function, 1)
    return _by_lanes(name, function, kind, (kind,) * count, lanes)


def _integer(name: str, function: str, kind: str) -> str:
    if function == "abs":
        return f"""static inline {kind} {name}({kind} a)
{{
    return a < 0 ? -a : a;
}}
"""
    return f"""static inline {kind} {name}({kind} a, {kind} b)
{{
    return a {"<" if function == "min" else ">"} b ? a : b;
}}
"""


_CONVERSIONS = {
    ("f16", "to"): """static inline float f16_to_f32(uint16_t bits)
{
    const union { uint32_t bits; float x; } scale = { 0x77800000u }, two = { 0x47800000u };
    union { uint32_t bits; float x; } out = { (uint32_t)(bits & 0x7fff) << 13 };
    out.x *= scale.x;  // moves the exponent; denormals become normal
    if (out.x >= two.x)  // infinities and NaN
        out.bits |= 0xffu << 23;
    out.bits |= (uint32_t)(bits & 0x8000) << 16;
    return out.x;
}
""",
    ("f16", "from"): """static inline uint16_t f16_from_f32(float x)
{
    union { float x; uint32_t bits; } in = { x };
    const uint32_t sign = in.bits & 0x80000000u;
    const union { uint32_t bits; float x; } half = { 126u << 23 };
    uint32_t out;
    in.bits ^= sign;
    if (in.bits >= 0x47800000u) {  // too large, infinite or NaN
        out = in.bits > 0x7f800000u ? 0x7e00 : 0x7c00;
    } else if (in.bits < 0x38800000u) {  // a denormal: an addition rounds it
        in.x += half.x;
        out = in.bits - half.bits;
    } else {
        out = (in.bits + 0xc8000fffu + (in.bits >> 13 & 1)) >> 13;
    }
    return (uint16_t)(sign >> 16 | out);
}
""",
    ("bf16", "to"): """static inline float bf16_to_f32(uint16_t bits)
{
    const union { uint32_t bits; float x; } out = { (uint32_t)bits << 16 };
    return out.x;
}
""",
    ("bf16", "from"): """static inline uint16_t bf16_from_f32(float x)
{
    const union { float x; uint32_t bits; } in = { x };
    const uint32_t rounded = (in.bits + 0x7fff + (in.bits >> 16 & 1)) >> 16;
    return (uint16_t)(x != x ? in.bits >> 16 | 0x40 : rounded);
}
""",
}


def _atomic(name: str, op: str, dtype: DType) -> str:
    """The compiler's own operation where it has one, else a compare-and-swap loop on the element's bits."""
    held = "uint16_t" if dtype.is_float and dtype.bits == 16 else VALUE[dtype.name]
    kind, order = VALUE[dtype.name], "__ATOMIC_RELAXED"
    native = {"+": "add", "&": "and", "|": "or", "^": "xor"}.get(op)
    if native and not dtype.is_float:
        return f"""static inline {kind} {name}({kind} *p, {kind} value)
{{
    return __atomic_fetch_{native}(p, value, {order});
}}
"""
    to, back = "seen", combined(op, "held", "value")
    if held != kind:
        to, back = f"{dtype.name}_to_f32(seen)", f"{dtype.name}_from_f32({back})"
    return f"""static inline {kind} {name}({held} *p, {kind} value)
{{
    {held} seen, next;
    {kind} held;
    __atomic_load(p, &seen, {order});
    do {{
        held = {to};
        next = {back};
    }} while (!__atomic_compare_exchange(p, &seen, &next, 1, {order}, {order}));
    return held;
}}
"""
