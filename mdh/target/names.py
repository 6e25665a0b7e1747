"""Identifiers that a target's text may use: no clash with its keywords, its builtins or another name."""

import re
from collections.abc import Iterable, Mapping

_C_WORDS = """
auto break case char const continue default do double else enum extern float for goto if inline int long
register restrict return short signed sizeof static struct switch typedef union unsigned void volatile
while _Bool _Complex asm main NULL size_t ptrdiff_t intptr_t uintptr_t INFINITY NAN M_PI true false bool
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
"""
C_WORDS = frozenset(_C_WORDS.split())
"""C11's keywords and the names that every target defines."""

_MATH = """
abs acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc exp exp2 exp10 expm1
fabs fdim floor fma fmax fmin fmod frexp hypot ilogb isfinite isinf isnan isnormal ldexp lgamma llabs log
log10 log1p log2 logb max min modf nan nearbyint nextafter pow pown powr remainder remquo rint rootn round
rsqrt signbit sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc y0 y1 yn j0 j1 jn
"""
MATH = frozenset(_MATH.split())

_CUDA_WORDS = """
alignas alignof and and_eq bitand bitor catch char8_t char16_t char32_t class compl concept consteval
constexpr constinit const_cast co_await co_return co_yield decltype delete dynamic_cast explicit export
friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public
reinterpret_cast requires static_assert static_cast template this thread_local throw try typeid typename
using virtual wchar_t xor xor_eq asm threadIdx blockIdx blockDim gridDim warpSize dim3 uint3 half
nv_bfloat16 cudaError_t make_float2 make_float4 mul24 umul24 saturate clock clock64 trap brkpt printf
malloc free memcpy memset assert abort exit shared warp_size
"""
CUDA_WORDS = frozenset(_CUDA_WORDS.split())

_OPENCL_WORDS = """
kernel global local constant private generic read_only write_only read_write half uchar ushort uint ulong
bool image2d_t image3d_t sampler_t event_t barrier mem_fence read_mem_fence write_mem_fence prefetch
select bitselect any all clamp degrees mix radians step smoothstep sign cross dot distance length
normalize mad mad24 mad_hi mad_sat mul24 mul_hi rotate add_sat sub_sat hadd rhadd upsample popcount clz
abs_diff shuffle shuffle2 printf complex imaginary pipe quad uniform as_float as_int as_uint as_long
as_ulong as_double vec_step half_sqrt native_sqrt maxmag minmag fract nan
"""
OPENCL_WORDS = frozenset(_OPENCL_WORDS.split())

_PATTERNS = {
    "cuda": re.compile(
        r"(u?(char|short|int|long|longlong)|float|double|half|nv_bfloat16|ulonglong)[1234]?$"
        r"|__.*|_[A-Z].*|cuda.*|cu[A-Z].*|atomic[A-Z_]\w*|make_\w+|cp_async\w*|swizzle_\w+|peer_\w+|cluster_\w+"
    ),
    "opencl": re.compile(
        r"u?(char|short|int|long)(2|3|4|8|16)?$|(float|double|half|bool|quad)(\d+(x\d+)?)?(_u)?$"
        r"|__.*|_[A-Z].*|CL_\w+|CLK_\w+|cl_\w+|get_\w+_(id|size|offset|dim|groups)|get_\w+|convert_\w+|as_\w+"
        r"|atom(ic)?_\w+|swizzle_\w+|v(load|store)\w*|(half|native)_\w+|is(equal|not|less|greater|ordered|unordered)\w*"
        r"|async_work_\w+|wait_group_events|image\w+|read_image\w+|write_image\w+|f16_\w+|bf16_\w+|f32_\w+"
    ),
}


def is_free(name: str, language: str) -> bool:
    """True when the target gives `name` no meaning of its own."""
    words = CUDA_WORDS if language == "cuda" else OPENCL_WORDS
    if name in C_WORDS or name in MATH or name in words:
        return False
    if name.endswith("f") and name[:-1] in MATH:
        return False
    return _PATTERNS[language].match(name) is None


def rename(names: Iterable[str], language: str, taken: Iterable[str] = ()) -> Mapping[str, str]:
    """A name for each of `names` in order: itself where it is free, else marked as `fresh` does.

    Names that keep themselves are settled first, so a renamed one never takes the place of another.
    """
    wanted = list(dict.fromkeys(names))
    used = set(taken)
    out = {n: n for n in wanted if is_free(n, language) and n not in used}
    used.update(out)
    for name in wanted:
        if name not in out:
            out[name] = fresh(name, used, language)
            used.add(out[name])
    return out


def fresh(name: str, used: Iterable[str], language: str) -> str:
    """`name`, `name_`, or `v_name` with as few underscores after it as make it free and unused.

    The prefix comes in where the target keeps a whole family of names (`cuda…`, `half_…`) to itself.
    """
    used = frozenset(used)
    for candidate in (name, f"{name}_"):
        if candidate not in used and is_free(candidate, language):
            return candidate
    name = f"v_{name}"
    while name in used:
        name += "_"
    return name
