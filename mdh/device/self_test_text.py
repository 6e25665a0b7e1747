"""The kernels of the self-test, in OpenCL C and in C; each is called `test`."""

from collections.abc import Sequence

from mdh.frontend.typing_rules import FUNCTIONS
from mdh.target import c_helpers, opencl_helpers
from mdh.target.c import VALUE as C_VALUE
from mdh.target.opencl import VALUE as CL_VALUE

VALUES, TESTS, TURNS = ("f32", "f64", "i8", "i32"), ("i32", "i8"), (8, 16, 32)
"""Types of values, types of conditions, and iterations of inner loops, for the reads under conditions."""
TESTED = tuple(name for name, count in FUNCTIONS.items() if count < 3)
"""Functions that a program may call. `fma` is missing, because judging it needs a wider type."""
TWO = frozenset(name for name, count in FUNCTIONS.items() if count == 2)
_FP64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
_HEADERS = "#include <math.h>\n#include <stdint.h>\n"


def functions_text(language: str, names: Sequence[str], dtype: str, width: int, count: int) -> str:
    """y[f][i] = names[f](x[i]), or of x[i] and u[i], by vectors of `width`."""
    rows = [] if language == "c" else [_operands(dtype, width)]
    for n, f in enumerate(names):
        to = f"y + {n * count}"
        if language == "c":
            value = f"{f}{'f' if dtype == 'f32' else ''}({_given(f, 'x[i]', 'u[i]')})"
        else:
            value = f"{f}({_given(f, 'a', 'b')})"
        rows.append(
            f"        vstore{width}({value}, i, {to});" if width > 1 else f"        ({to})[i] = {value};"
        )
    params = [_parameter(language, dtype, name) for name in ("x", "u", "y")]
    return _kernel(language, params, _loop(rows, count // width), double=dtype == "f64")


def _operands(dtype: str, width: int) -> str:
    kind = CL_VALUE[dtype]
    if width == 1:
        return f"        const {kind} a = x[i], b = u[i];"
    return f"        const {kind}{width} a = vload{width}(i, x), b = vload{width}(i, u);"


def _given(function: str, first: str, second: str) -> str:
    return f"{first}, {second}" if function in TWO else first


def masked_text(language: str) -> str:
    """y = c ? a : y in two loops, for all VALUES, TESTS and TURNS: arrays a_f32, c_i8, y_f32_i8_16…"""
    rows, params = [], []
    for value in VALUES:
        params.append(_parameter(language, value, f"a_{value}"))
        for test in TESTS:
            for turns in TURNS:
                y, at = f"y_{value}_{test}_{turns}", f"i * {turns} + k"
                params.append(_parameter(language, value, y))
                rows += [
                    "    for (int i = 0; i < 8; ++i)",
                    f"        for (int k = 0; k < {turns}; ++k)",
                    f"            {y}[{at}] = c_{test}[{at}] ? a_{value}[{at}] : {y}[{at}];",
                ]
    params += [_parameter(language, test, f"c_{test}") for test in TESTS]
    return _kernel(language, params, "".join(row + "\n" for row in rows), double=True)


def halves_text(language: str, name: str, count: int) -> str:
    """y holds the bits of the floats x, rounded to 16-bit floats."""
    params = [_parameter(language, "f32", "x"), _parameter(language, "u16", "y")]
    function = f"{name}_from_f32"
    if language == "c":
        body = _loop([f"        y[i] = {function}(x[i]);"], count)
        return _kernel(language, params, body, c_helpers.helper(function) or "")
    body = _loop([f"        vstore4({function}x4(vload4(i, x)), i, y);"], count // 4)
    return _kernel(language, params, body, opencl_helpers.helper(f"{function}x4") or "")


def mirror_text(items: int) -> str:
    """Work-items of a group exchange elements in reverse order through local memory."""
    return f"""__kernel __attribute__((reqd_work_group_size({items}, 1, 1)))
void test(__global const int *restrict x, __global int *restrict y)
{{
    __local int held[{items}];
    const int place = get_local_id(0);
    held[place] = x[get_group_id(0) * {items} + place];
    barrier(CLK_LOCAL_MEM_FENCE);
    y[get_group_id(0) * {items} + place] = held[{items - 1} - place];
}}
"""


def _loop(rows: Sequence[str], count: int) -> str:
    inside = "\n".join(rows)
    return f"    for (int i = 0; i < {count}; ++i) {{\n{inside}\n    }}\n"


def _parameter(language: str, dtype: str, name: str) -> str:
    """A parameter. It is written if its name begins with a y."""
    kind = C_VALUE[dtype] if language == "c" else f"__global {CL_VALUE[dtype]}"
    const = "" if name.startswith("y") else "const "
    return f"{const}{kind} *restrict {name}"


def _kernel(
    language: str, params: Sequence[str], body: str, helper: str = "", *, double: bool = False
) -> str:
    if language == "c":
        return f"{_HEADERS}\n{helper}void test({', '.join(params)})\n{{\n{body}}}\n"
    extension = _FP64 if double else ""
    head = "__kernel __attribute__((reqd_work_group_size(1, 1, 1)))"
    return f"{extension}{helper}{head}\nvoid test({', '.join(params)})\n{{\n{body}}}\n"
