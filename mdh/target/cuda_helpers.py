"""Device functions that CUDA text may call; each is printed only where its name occurs."""

import re
from collections.abc import Callable

from mdh.ir.dtype import BY_NAME, DType
from mdh.ir.intrinsic import Intrinsic
from mdh.target.cuda import FROM_FLOAT, STORAGE, TO_FLOAT
from mdh.target.cuda_copy_engine import copy_engine_function
from mdh.target.cuda_matrices import matrix_function
from mdh.target.eighths import NAMES
from mdh.target.operators import OPERATORS, combined, quotient, swizzle

INLINE = "__device__ __forceinline__"

_COMMIT = f"""{INLINE} void cp_async_commit()
{{
    asm volatile("cp.async.commit_group;" ::: "memory");
}}
"""
_WAIT = f"""template <int pending>
{INLINE} void cp_async_wait()
{{
    asm volatile("cp.async.wait_group %0;" :: "n"(pending) : "memory");
}}
"""
_GROUP_SYNC = f"""{INLINE} void group_sync()
{{
    asm volatile("bar.sync %0, 128;" :: "r"(1 + threadIdx.x / 128) : "memory");
}}
"""
_CLUSTER_SYNC = f"""{INLINE} void cluster_sync()
{{
    asm volatile("barrier.cluster.arrive.aligned;\\nbarrier.cluster.wait.aligned;" ::: "memory");
}}
"""
_CLUSTER_RANK = f"""{INLINE} int cluster_rank()
{{
    int rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}}
"""
_FIRST_LANE = f"""{INLINE} int first_lane(bool here)
{{
    const unsigned int lanes = __ballot_sync(0xffffffff, here);
    return lanes ? __ffs(lanes) - 1 : 32;
}}
"""
_TO_TF32 = f"""{INLINE} unsigned int to_tf32(float x)
{{
    unsigned int bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}}
"""
PAIRS = {"f16": ("__half", "half", "half2"), "bf16": ("__nv_bfloat16", "bfloat16", "bfloat162")}
"""Type, its word in names, and that of a pair."""
CONSTANTS = {
    "INFINITY": "#define INFINITY __int_as_float(0x7f800000)\n",
    "NAN": "#define NAN __int_as_float(0x7fffffff)\n",
}


def helper(name: str) -> str | None:
    """The definition of the device function `name`, or None where the text does not define it."""
    match name:
        case "cp_async_commit":
            return _COMMIT
        case "cp_async_wait":
            return _WAIT
        case "group_sync":
            return _GROUP_SYNC
        case "cluster_sync":
            return _CLUSTER_SYNC
        case Intrinsic.CLUSTER_RANK:
            return _CLUSTER_RANK
        case Intrinsic.FIRST_LANE:
            return _FIRST_LANE
        case Intrinsic.TO_TF32:
            return _TO_TF32
    if found := re.fullmatch(NAMES, name):
        return _eighth(name, found[1], found[2])
    if found := re.fullmatch(r"kept_(i32|u32)", name):
        return _kept(name, STORAGE[found[1]])
    if found := re.fullmatch(r"cp_async_(4|8|16)(_if)?", name):
        return _cp_async(int(found[1]), predicated=found[2] is not None)
    if found := re.fullmatch(r"(f16|bf16)_of_pair", name):
        return _of_pair(name, *PAIRS[found[1]])
    if found := re.fullmatch(r"atomic_([a-z]+)_([a-z]+\d+)", name):
        return _atomic(name, OPERATORS[found[1]], BY_NAME[found[2]])
    if found := re.fullmatch(r"peer_([a-z]+\d+)", name):
        return _peer(name, BY_NAME[found[1]])
    if found := re.fullmatch(r"(packed|unpacked)_([a-z]+\d+)", name):
        return (_packed if found[1] == Intrinsic.PACKED else _unpacked)(name, BY_NAME[found[2]])
    known = quotient(name, INLINE) or matrix_function(name, INLINE) or copy_engine_function(name, INLINE)
    return known or swizzle(name, INLINE)


def _kept(name: str, kind: str) -> str:
    return f"""// x: ptxas before CUDA 13.4 joins negations with other instructions wrongly, but not this one
{INLINE} {kind} {name}({kind} x)
{{
    return __byte_perm(x, 0, 0x3210);
}}
"""


def _eighth(name: str, kind: str, way: str) -> str:
    """cuda_fp8.h converts by instructions from compute capability 8.9 on, and computes the same below."""
    format = f"__NV_{kind.removeprefix('f8').upper()}"
    if way == "to":
        return f"""{INLINE} float {name}(unsigned char bits)
{{
    return __half2float(__nv_cvt_fp8_to_halfraw(bits, {format}));
}}
"""
    return f"""{INLINE} unsigned char {name}(float x)
{{
    return __nv_cvt_float_to_fp8(x, {"__NV_NOSAT" if way == "kept" else "__NV_SATFINITE"}, {format});
}}
"""


def _of_pair(name: str, kind: str, word: str, pair: str) -> str:
    return f"""// all: results, in pairs
{INLINE} {kind} {name}(const float *all, int at)
{{
    const {kind}2 two = __floats2{pair}_rn(all[at & ~1], all[at | 1]);
    return at & 1 ? __high2{word}(two) : __low2{word}(two);
}}
"""


def _packed(name: str, dtype: DType) -> str:
    to, _ = _punned(dtype)
    kind = STORAGE[dtype.name]
    return f"""{INLINE} unsigned long long {name}(int number, {kind} value)
{{
    return (unsigned long long)number << 32 | {to("value")};
}}
"""


def _unpacked(name: str, dtype: DType) -> str:
    _, back = _punned(dtype)
    return f"""{INLINE} {STORAGE[dtype.name]} {name}(unsigned long long word)
{{
    return {back("(unsigned int)word")};
}}
"""


def _cp_async(n: int, *, predicated: bool) -> str:
    cache = "cg" if n == 16 else "ca"
    if predicated:
        head = f"void cp_async_{n}_if(bool take, void *dst, const void *src)"
        size, operand = ", %2", f', "r"(take ? {n} : 0)'
    else:
        head, size, operand = f"void cp_async_{n}(void *dst, const void *src)", "", ""
    return f"""{INLINE} {head}
{{
    asm volatile("cp.async.{cache}.shared.global [%0], [%1], {n}{size};"
                 :: "r"((unsigned)__cvta_generic_to_shared(dst)), "l"(__cvta_generic_to_global(src)){operand}
                 : "memory");
}}
"""


def _peer(name: str, dtype: DType) -> str:
    kind = STORAGE[dtype.name]
    letter = {"f32": "f", "f64": "d"}.get(dtype.name, "r" if dtype.bits == 32 else "l")
    return f"""{INLINE} {kind} {name}(const {kind} *p, int rank)
{{
    {kind} value;
    asm volatile("{{\\n.reg .u32 there;\\nmapa.shared::cluster.u32 there, %1, %2;\\n"
                 "ld.shared::cluster.{dtype.name.replace("i", "s")} %0, [there];\\n}}"
                 : "={letter}"(value) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(rank) : "memory");
    return value;
}}
"""


def _atomic(name: str, op: str, dtype: DType) -> str:
    if dtype.bits < 32:
        return _atomic_narrow(name, op, dtype)
    kind = STORAGE[dtype.name]
    word = "unsigned int" if dtype.bits == 32 else "unsigned long long"
    to, back = _punned(dtype)
    return f"""{INLINE} {kind} {name}({kind} *p, {kind} value)
{{
    {word} seen = *(volatile {word} *)p, old;
    do {{
        old = seen;
        const {kind} held = {back("old")};
        seen = atomicCAS(({word} *)p, old, {to(f"({kind})({combined(op, 'held', 'value')})")});
    }} while (seen != old);
    return {back("old")};
}}
"""


Spell = Callable[[str], str]


def _punned(dtype: DType) -> tuple[Spell, Spell]:
    """How a value becomes the word that is compared and swapped, and back."""
    word = "unsigned int" if dtype.bits <= 32 else "unsigned long long"
    match dtype.name:
        case "f32":
            return "__float_as_uint({})".format, "__uint_as_float({})".format
        case "f64":
            return f"({word})__double_as_longlong({{}})".format, "__longlong_as_double((long long){})".format
        case _:
            return f"({word})({{}})".format, f"({STORAGE[dtype.name]}){{}}".format


def _atomic_narrow(name: str, op: str, dtype: DType) -> str:
    """Elements narrower than a word are exchanged with the aligned word around them."""
    kind = STORAGE[dtype.name]
    lane = f"unsigned {'char' if dtype.bits == 8 else 'short'}"
    value = "float" if dtype in TO_FLOAT else kind
    old = f"({kind})(old >> shift)"
    new = f"({lane})({combined(op, 'held', 'value')})"
    if dtype in TO_FLOAT:
        bits = {"f16": "__ushort_as_half", "bf16": "__ushort_as_bfloat16"}[dtype.name]
        raw = {"f16": "__half_as_ushort", "bf16": "__bfloat16_as_ushort"}[dtype.name]
        old = f"{TO_FLOAT[dtype]}({bits}((unsigned short)(old >> shift)))"
        new = f"{raw}({FROM_FLOAT[dtype]}({combined(op, 'held', 'value')}))"
    mask = (1 << dtype.bits) - 1
    return f"""{INLINE} {value} {name}({kind} *p, {value} value)
{{
    unsigned int *const word = (unsigned int *)((unsigned long long)p & ~3ULL);
    const int shift = (int)((unsigned long long)p & 3) * 8;
    unsigned int seen = *(volatile unsigned int *)word, old;
    do {{
        old = seen;
        const {value} held = {old};
        const unsigned int now = {new};
        seen = atomicCAS(word, old, (old & ~({mask:#x}u << shift)) | (now << shift));
    }} while (seen != old);
    return {old};
}}
"""
