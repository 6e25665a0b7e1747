"""`NAME.h`: the C-callable launcher's prototype, and how its parameters are spelled in C."""

from mdh.ir.program import Buffer, Program, Scalar
from mdh.target.text import KernelText

C_TYPES = {
    "f16": "uint16_t", "bf16": "uint16_t", "f32": "float", "f64": "double",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
}  # fmt: skip
"""Host types; 16-bit floats travel as their bits."""


def header(text: KernelText, program: Program) -> str:
    """The prototype, with what the caller must know of arrays and sizes."""
    guard = f"MDH_{text.name.upper()}_H"
    include = "#include <stdint.h>\n" if text.language == "cuda" else '#include "opencl.h"\n'
    arrays = [f"   {p.name}: {p.dtype} {shape_text(p)}" for p in parameters(program) if isinstance(p, Buffer)]
    sizes = [
        f"   {p.name}: must be {p.size}" for p in parameters(program) if isinstance(p, Scalar) and p.size
    ]
    where = (
        "Arrays are device pointers"
        if text.language == "cuda"
        else "Arrays are buffers of the queue's context"
    )
    order = (
        "kernels are put on `stream` (a cudaStream_t)" if text.language == "cuda" else "kernels join `queue`"
    )
    notes = "\n".join([*arrays, *sizes])
    return f"""#ifndef {guard}
#define {guard}
{include}
#ifdef __cplusplus
extern "C" {{
#endif

/* {where}; {order}, the call does not wait.
   Returns 0, or the runtime's error code (-1 where a size differs from the one compiled for).
{notes} */
{prototype(text, program)};

#ifdef __cplusplus
}}
#endif
#endif
"""


def prototype(text: KernelText, program: Program) -> str:
    params = [parameter(p, text.language) for p in parameters(program)]
    params = [*params, "void *stream"] if text.language == "cuda" else ["cl_command_queue queue", *params]
    return f"int {text.name}({', '.join(params)})"


def parameters(program: Program) -> tuple[Buffer | Scalar, ...]:
    """The C function's parameters in C's order."""
    return tuple(program.buffer_of.get(p) or program.scalar_of[p] for p in program.params)


def parameter(p: Buffer | Scalar, language: str) -> str:
    if isinstance(p, Scalar):
        return f"{C_TYPES[p.dtype.name]} {host_name(p.name)}"
    if language == "opencl":
        return f"cl_mem {host_name(p.name)}"
    return f"{'const ' if p.const else ''}{C_TYPES[p.dtype.name]} *{host_name(p.name)}"


def host_name(name: str) -> str:
    """C++'s words and the launcher's own names are marked by an underscore."""
    return f"{name}_" if name in _TAKEN else name


def shape_text(p: Buffer) -> str:
    return "".join(f"[{n}]" for n in p.shape)


_WORDS = """
stream queue error class new delete this template operator private public protected virtual friend namespace
using try catch throw typename explicit and or not xor bool true false export mutable typeid dim3 program
context device kernels grid block global local source options names
"""
_TAKEN = frozenset(_WORDS.split())
