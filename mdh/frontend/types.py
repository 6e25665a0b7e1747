"""The type names of Tensor Comprehensions, Diesel and einsum, and the C types that they stand for."""

from mdh.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType
from mdh.ir.syntax import CType

TYPES: dict[str, DType] = {
    "double": F64, "float": F32, "half": F16,
    "float64": F64, "float32": F32, "float16": F16, "bfloat16": BF16,
    "int": I32, "int8": I8, "int16": I16, "int32": I32, "int64": I64,
    "byte": U8, "uint8": U8, "uint16": U16, "uint32": U32, "uint64": U64,
}  # fmt: skip
C_TYPES: dict[DType, CType] = {
    t: CType((word,))
    for t, word in {
        F64: "double", F32: "float", F16: "_Float16", BF16: "__bf16",
        I8: "int8_t", I16: "int16_t", I32: "int", I64: "int64_t",
        U8: "uint8_t", U16: "uint16_t", U32: "uint32_t", U64: "uint64_t",
    }.items()
}  # fmt: skip
