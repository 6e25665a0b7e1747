"""`NAME.h`: the C-callable launcher's prototype, and how its parameters are spelled in C."""

from mdh.ir.dtype import DType
from mdh.ir.program import Buffer, Program, Scalar
from mdh.target.host import HostNames
from mdh.target.text import KernelText

C_TYPES = {
    "f8e4m3": "uint8_t", "f8e5m2": "uint8_t", "f16": "uint16_t", "bf16": "uint16_t",
    "f32": "float", "f64": "double",
    "i8": "int8_t", "i16": "int16_t", "i32": "int32_t", "i64": "int64_t",
    "u8": "uint8_t", "u16": "uint16_t", "u32": "uint32_t", "u64": "uint64_t",
}  # fmt: skip
"""Host types of elements; narrow floats are their bits."""


TOLD = {
    "cuda": "Arrays are device pointers; kernels join `stream` (a cudaStream_t), the call does not wait.",
    "opencl": "Arrays are buffers of the queue's context; kernels join `queue`, the call does not wait.",
    "c": "Arrays must not overlap. One call at a time: workspaces are kept from call to call.",
}


def header(text: KernelText, program: Program, host: HostNames) -> str:
    """The prototype, with what the caller must know of arrays and sizes."""
    guard = f"MDH_{host.function.upper()}_H"
    include = '#include "opencl.h"\n' if text.language == "opencl" else "#include <stdint.h>\n"
    arrays = [
        f"   {_told(p.name, host)}: {p.dtype} {shape_text(p)}"
        for p in parameters(program)
        if isinstance(p, Buffer)
    ]
    sizes = [
        f"   {_told(p.name, host)}: must be {p.size}"
        if p.open is None
        else f"   {_told(p.name, host)}: {p.open.legal}"
        for p in parameters(program)
        if isinstance(p, Scalar) and p.size
    ]
    refused = "a size differs from the one compiled for"
    if program.opens:
        refused = "a size is not one of those compiled for"
    halves = [
        f"   {_told(p.name, host)}: a number that {p.dtype} has"
        for p in parameters(program)
        if isinstance(p, Scalar) and scalar_type(p.dtype) != C_TYPES[p.dtype.name]
    ]
    marked = host.function != program.name
    own = [f"   {host.function} stands for the C function {program.name}."] if marked else []
    notes = "\n".join([*own, *arrays, *halves, *sizes])
    return f"""#ifndef {guard}
#define {guard}
{include}
#ifdef __cplusplus
extern "C" {{
#endif

/* {TOLD[text.language]}
   Returns 0, or the runtime's error code (-1 where {refused}).
{notes} */
{prototype(text, program, host)};

#ifdef __cplusplus
}}
#endif
#endif
"""


def _told(name: str, host: HostNames) -> str:
    return name if host[name] == name else f"{host[name]} ({name} in the C)"


def prototype(text: KernelText, program: Program, host: HostNames) -> str:
    params = [parameter(p, text.language, host) for p in parameters(program)]
    if text.language == "cuda":
        params = [*params, "void *stream"]
    elif text.language == "opencl":
        params = ["cl_command_queue queue", *params]
    return f"int {host.function}({', '.join(params)})"


def parameters(program: Program) -> tuple[Buffer | Scalar, ...]:
    """The C function's parameters in C's order."""
    return tuple(program.buffer_of.get(p) or program.scalar_of[p] for p in program.params)


def scalar_type(dtype: DType) -> str:
    """How a number is given to the launcher and to kernels: 16-bit floats as float."""
    return "float" if dtype.is_float and dtype.bits < 32 else C_TYPES[dtype.name]


def parameter(p: Buffer | Scalar, language: str, host: HostNames) -> str:
    if isinstance(p, Scalar):
        return f"{scalar_type(p.dtype)} {host[p.name]}"
    if language == "opencl":
        return f"cl_mem {host[p.name]}"
    return f"{'const ' if p.const else ''}{C_TYPES[p.dtype.name]} *{host[p.name]}"


def shape_text(p: Buffer) -> str:
    extents = p.open or (None,) * len(p.shape)
    return "".join(f"[{n if o is None else o}]" for n, o in zip(p.shape, extents, strict=True))
