"""The parameters of the C function: arrays, plain pointers, scalars, sizes."""

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.collect import collected
from mdh.frontend.c.ctypes_of import dimensions, is_const, scalar_type
from mdh.frontend.c.loops import constant
from mdh.frontend.c.scope import NameScope
from mdh.frontend.c.sink import names_in
from mdh.frontend.limits import MOST_ELEMENTS
from mdh.frontend.sizes import out_of_range
from mdh.frontend.statements import Array
from mdh.ir.dtype import EIGHTHS, DType, integer_range
from mdh.ir.expr import Const, Var
from mdh.ir.program import Scalar


def read_signature(
    node: c_ast.FuncDef, sizes: dict[str, int], scope: NameScope
) -> tuple[tuple[str, ...], list[Scalar]]:
    """Parameter names in order, and the scalars. Arrays and values are put into `scope`."""
    result = node.decl.type.type
    if not (isinstance(result, c_ast.TypeDecl) and getattr(result.type, "names", None) == ["void"]):
        said = fail("C108", f"`{node.decl.name}` returns a value", scope.places.of(node.decl, node.decl.name),
                    help="return void and write the result through an array parameter")  # fmt: skip
        scope.errors.extend(said.diagnostics)
        scope.returns = True
    args = node.decl.type.args
    decls = [] if args is None else args.params
    names: list[str] = []
    scalars: list[Scalar] = []
    for decl in decls:
        with collected(decl, scope):
            _parameter(decl, names, scalars, sizes, scope)
    for n, decl in enumerate(decls):
        if isinstance(getattr(decl, "type", None), (c_ast.PtrDecl, c_ast.ArrayDecl)):
            with collected(decl, scope):
                late = names_in(decl.type) & {getattr(d, "name", None) for d in decls[n:]}
                if late:
                    raise fail("C117", f"`{min(late)}` is declared behind this extent", scope.places.of(decl),
                               help="put the parameter in front of the array")  # fmt: skip
                scope.arrays[decl.name] = _array(decl, scope)
    return tuple(names), scalars


def _parameter(
    decl: c_ast.Node, names: list[str], scalars: list[Scalar], sizes: dict[str, int], scope: NameScope
) -> None:
    """Notes the name, and the meaning of a scalar."""
    if isinstance(decl, c_ast.EllipsisParam) or getattr(decl, "name", None) is None:
        if _is_void(decl):
            return
        raise fail("C109", "every parameter needs a type and a name", scope.places.of(decl))
    names.append(decl.name)
    scope.taken.add(decl.name)
    # a parameter hides a constant of the file
    scope.tables.pop(decl.name, None)
    scope.values.pop(decl.name, None)
    dtype = scalar_type(decl, scope.places)
    if not isinstance(decl.type, (c_ast.PtrDecl, c_ast.ArrayDecl)):
        if dtype in EIGHTHS:
            what = f"`{decl.name}` is a struct that is passed by value, which is not supported"
            said = f"float {decl.name}, converted where it is used"
            raise fail("C110", what, scope.places.of(decl, decl.name), help=said)
        scalars.append(_scalar(decl, dtype, sizes, scope))


def _is_void(decl: c_ast.Node) -> bool:
    inner = getattr(getattr(decl, "type", None), "type", None)
    return getattr(inner, "names", None) == ["void"]


def _scalar(decl: c_ast.Decl, dtype: DType, sizes: dict[str, int], scope: NameScope) -> Scalar:
    span = scope.places.of(decl, decl.name)
    size = sizes.get(decl.name) if not dtype.is_float else None
    if size is not None and not integer_range(dtype)[0] <= size <= integer_range(dtype)[1]:
        raise out_of_range(decl.name, size, dtype, span)
    scope.values[decl.name] = Var(decl.name, dtype) if size is None else Const(size, dtype)
    return Scalar(decl.name, dtype, size, span)


def _array(decl: c_ast.Decl, scope: NameScope) -> Array:
    span = scope.places.of(decl, decl.name)
    pointer = isinstance(decl.type, c_ast.PtrDecl)
    dims, node = dimensions(decl.type.type if pointer else decl.type)
    dims = [None, *dims] if pointer and dims else dims
    if isinstance(node, c_ast.PtrDecl):
        raise fail(
            "C110", f"`{decl.name}` is a pointer to pointers", span, help="use float A[N][K] or float *A"
        )
    dtype = scalar_type(decl, scope.places)
    if not dims or dims == [None]:
        return Array(decl.name, dtype, None, is_const(decl), False, span)
    shape = [-1 if d is None else extent(d, decl.name, scope) for d in dims]
    return Array(decl.name, dtype, tuple(shape), is_const(decl), False, span)


def extent(node: c_ast.Node, name: str, scope: NameScope) -> int:
    """One dimension of an array: a positive constant."""
    n = constant(node, scope, f"an extent of `{name}`")
    if n <= 0:
        raise fail(
            "C117", f"an extent of `{name}` is {n:,}", scope.places.of(node), help="extents are positive"
        )
    if n > MOST_ELEMENTS:
        what = f"an extent of `{name}` is {n:,}, more than {MOST_ELEMENTS:,}"
        raise fail("C117", what, scope.places.of(node), help="give it a smaller extent")
    return n
