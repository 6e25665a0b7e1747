"""C declarations to scalar types and shapes."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.eighths import HIDDEN
from mdh.frontend.c.places import Places
from mdh.ir.dtype import BF16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType

NAMED = {
    "int8_t": I8, "int16_t": I16, "int32_t": I32, "int64_t": I64, "uint8_t": U8, "uint16_t": U16,
    "uint32_t": U32, "uint64_t": U64, "size_t": U64, "ptrdiff_t": I64,
    "_Float16": F16, "__bf16": BF16, "float": F32, "double": F64, **HIDDEN,
}  # fmt: skip
SUPPORTED = (
    "float, double, _Float16, __bf16, char to long, int8_t to int64_t, unsigned forms; typedefs of these;"
    " fp8_e4m3 and fp8_e5m2 of mdh.h"
)


def dtype_of(names: list[str], places: Places, node: c_ast.Node) -> DType:
    """The type of specifier words such as `unsigned long`."""
    words = list(names)
    if len(words) == 1 and words[0] in NAMED:
        return NAMED[words[0]]
    unsigned = "unsigned" in words
    rest = [w for w in words if w not in ("unsigned", "signed", "int")]
    plain: DType | None = None
    match rest:
        case []:
            plain = I32
        case ["char"]:
            plain = I8
        case ["short"]:
            plain = I16
        case ["long"] | ["long", "long"]:
            plain = I64
        case ["bool" | "_Bool" as word]:
            # a conversion to bool is a comparison with 0, and its elements have one byte
            raise fail("C110", f"the type `{word}` is not supported", places.of(node, word),
                       help="write int, and `x != 0` for its value; uint8_t for arrays")  # fmt: skip
        case _:
            raise fail("C110", f"the type `{' '.join(words)}` is not supported", places.of(node, words[-1]),
                       help=f"supported: {SUPPORTED}")  # fmt: skip
    if not unsigned:
        return plain
    return {8: U8, 16: U16, 32: U32, 64: U64}[plain.bits]


def scalar_type(decl: c_ast.Node, places: Places) -> DType:
    """The element type under pointers, arrays and qualifiers."""
    node = decl
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.TypeDecl, c_ast.Typename, c_ast.Decl)):
        node = node.type
    if isinstance(node, c_ast.IdentifierType):
        return dtype_of(node.names, places, decl)
    raise fail(
        "C110", "structs, unions and enums are not supported", places.of(decl), help=f"supported: {SUPPORTED}"
    )


def dimensions(node: c_ast.Node) -> tuple[list[c_ast.Node | None], c_ast.Node]:
    """The extents of an array declarator as written, None for `[]`, and what is under it."""
    dims: list[c_ast.Node | None] = []
    while isinstance(node, c_ast.ArrayDecl):
        dims.append(node.dim)
        node = node.type
    return dims, node


def is_const(decl: c_ast.Node) -> bool:
    """Whether the elements are const."""
    node = decl
    while isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.Decl)):
        node = node.type
    return isinstance(node, c_ast.TypeDecl) and "const" in (node.quals or [])
