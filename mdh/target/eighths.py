"""8-bit floats in software: functions between their bits and float, for C and for OpenCL C with its vectors.

`to`: exact. `from`: to the nearest, ties to even; what is too large becomes the largest finite number.
`kept`: of a number that the type has; an infinity stays one. Source: OCP 8-bit Floating Point Specification.
"""

from dataclasses import dataclass
from typing import Literal

from mdh.ir.dtype import F8E4M3, F8E5M2, DType

Way = Literal["to", "from", "kept"]
NAMES = r"(f8e4m3|f8e5m2)_(to|from|kept)_f32"
"""Matches the functions' names; those of vectors end in `x` and their lanes."""
INFINITE = (F8E5M2,)
"""The types that have infinities, for which `kept` differs from `from`."""


@dataclass(frozen=True, slots=True)
class _Format:
    """shift: bits of float's significand beyond its own. least: of denormals, as a float. special: bits from
    which on a number is infinite or NaN. top: bits of the largest number, from: which float becomes it.
    normal: bits of the least normal float. ulp: a float whose last bit is a denormal's, and its bits."""

    shift: int
    bias: int
    denormals: int
    least: str
    special: int
    top: int
    begin: int
    normal: int
    ulp: str
    ulp_bits: int


_FORMATS = {
    F8E4M3.name: _Format(
        20, 120, 8, "1.0f / 512", 0x7F, 0x7E, 0x43E00000, 0x3C800000, "16384.0f", 0x46800000
    ),
    F8E5M2.name: _Format(
        21, 112, 4, "1.0f / 65536", 0x7C, 0x7B, 0x47600000, 0x38800000, "128.0f", 0x43000000
    ),
}


def from_function(dtype: DType, *, kept: bool) -> str:
    """The function that makes bits of a float. kept: it is a number of the type."""
    return f"{dtype.name}_{'kept' if kept and dtype in INFINITE else 'from'}_f32"


def c_function(type_name: str, way: str) -> str:
    """The definition for scalars in C."""
    f, name = _FORMATS[type_name], f"{type_name}_{way}_f32"
    nearest = _nearest(f)
    if way == "to":
        return f"""static inline float {name}(uint8_t bits)
{{
    const uint32_t rest = bits & 0x7f;
    union {{ uint32_t bits; float x; }} out = {{ (rest << {f.shift}) + ({f.bias}u << 23) }};
    if (rest < {f.denormals})
        out.x = (float)rest * ({f.least});
    if (rest >= {f.special:#x})  // NaN{", infinities" if f.special < 0x7F else ""}
        out.bits |= 0x7f800000u;
    out.bits |= (uint32_t)(bits & 0x80) << 24;
    return out.x;
}}
"""
    return f"""static inline uint8_t {name}(float x)
{{
    const union {{ float x; uint32_t bits; }} in = {{ x }};
    const uint32_t size = in.bits & 0x7fffffffu;
    union {{ uint32_t bits; float x; }} small = {{ size }};
    uint32_t rest = {nearest};
    small.x += {f.ulp};  // rounds a denormal
    if (size < {f.normal:#x}u)
        rest = small.bits - {f.ulp_bits:#x}u;
    if (size >= {f.begin:#x}u)
        rest = {_top(f, way, "size == 0x7f800000u")};
    if (size > 0x7f800000u)
        rest = 0x7f;
    return (uint8_t)(in.bits >> 24 & 0x80) | (uint8_t)rest;
}}
"""


def _nearest(f: _Format) -> str:
    """The bits of a normal number, from the bits of its absolute value as a float."""
    half = (1 << (f.shift - 1)) - 1
    return f"(size + {half:#x} + (size >> {f.shift} & 1) - ({f.bias}u << 23)) >> {f.shift}"


def _top(f: _Format, way: str, infinite: str) -> str:
    return f"{infinite} ? {f.special:#x} : {f.top:#x}" if way == "kept" else f"{f.top:#x}"


def opencl_function(type_name: str, way: str, n: str) -> str:
    """The definition in OpenCL C. n: lanes, empty for a scalar."""
    f, name = _FORMATS[type_name], f"{type_name}_{way}_f32{f'x{n}' if n else ''}"
    nearest = _nearest(f)
    if way == "to":
        return f"""inline float{n} {name}(uchar{n} bits)
{{
    const uint{n} all = convert_uint{n}(bits), rest = all & 0x7f;
    const uint{n} large = (rest << {f.shift}) + ({f.bias}u << 23);
    const float{n} small = convert_float{n}(rest) * ({f.least});
    const uint{n} size = rest < {f.denormals} ? as_uint{n}(small) : large;
    const uint{n} ends = rest >= {f.special:#x} ? (uint{n})(0x7f800000u) : (uint{n})(0u);
    return as_float{n}(size | ends | (all & 0x80) << 24);
}}
"""
    top = f"(uint{n})({f.top:#x}u)"
    if way == "kept":
        top = f"(size == 0x7f800000u ? (uint{n})({f.special:#x}u) : {top})"
    return f"""inline uchar{n} {name}(float{n} x)
{{
    const uint{n} size = as_uint{n}(x) & 0x7fffffffu;
    const uint{n} large = {nearest};
    const uint{n} small = as_uint{n}(as_float{n}(size) + {f.ulp}) - {f.ulp_bits:#x}u;
    const uint{n} finite = size < {f.normal:#x}u ? small : large;
    const uint{n} held = size >= {f.begin:#x}u ? {top} : finite;
    const uint{n} rest = size > 0x7f800000u ? (uint{n})(0x7fu) : held;
    return convert_uchar{n}((as_uint{n}(x) >> 24 & 0x80) | rest);
}}
"""
