"""Long lists of initial values, and constants that are given from outside, as initialisers of C.

Parsers take 50 microseconds a token, which is too much for ten thousand numbers. So long lists are taken out
of the text before it is preprocessed, and put back into the tree.
"""

import re
from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import replace

from pycparser import c_ast

from mdh.frontend.c.ctypes_of import dimensions, scalar_type
from mdh.frontend.c.own_functions import put
from mdh.frontend.c.places import Places, assigned, base_of, nodes_in
from mdh.frontend.constant_arrays import (
    AT,
    THERE,
    ConstantArray,
    Nested,
    check_type,
    no_array,
    number_text,
    packed,
    refused,
)
from mdh.ir.dtype import F64, I32, DType

LONG = 200
"""Characters of a list that is taken out. Shorter ones may hold names and macros."""
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fFuUlL]{0,3}"
_LIST = re.compile(rf"=\s*(\{{(?:[\s{{}},]|{_NUMBER}(?![\w.]))*\}})(?=\s*[;,])")
_TOKEN = re.compile(rf"[{{}},]|{_NUMBER}")
_MARK = "__mdh_list_"


class TakenOut(c_ast.InitList):  # type: ignore[misc]  # pycparser has no type hints
    """A list of values that no parser has seen.

    cropped: the program is a small version of the user's, so that only the first elements of each dimension
    count. given: the constant that the user gives for an array parameter of declared extents.
    """

    __slots__ = ("cropped", "given")

    def __init__(self, exprs: list[c_ast.Node], coord: object, *, cropped: bool) -> None:
        super().__init__(exprs, coord)
        self.cropped = cropped
        self.given: ConstantArray | None = None


def without_lists(text: str) -> tuple[str, tuple[str, ...]]:
    """The text with a name in place of every long list of numbers, and the lists. No line moves."""
    lists: list[str] = []

    def short(m: re.Match[str]) -> str:
        if len(m[1]) < LONG or not _balanced(m[1]):
            return m[0]
        mark = f"{{{_MARK}{len(lists)}"
        lists.append(m[1])
        blank = re.sub(r"[^\n]", " ", m[1][:-1])
        return m[0][: m.start(1) - m.start()] + mark + blank[len(mark) :] + "}"

    return _LIST.sub(short, text), tuple(lists)


def _balanced(text: str) -> bool:
    """Whether the brackets of a list match, and numbers and lists stand between commas."""
    plain = re.sub(_NUMBER, "0", re.sub(r"\s", "", text))
    plain = re.sub(r"0(?:,0)*", "0", plain)
    while (reduced := re.sub(r"\{0(?:,0)*,?\}", "0", plain)) != plain:
        plain = reduced
    return plain == "0"


def put_lists_back(tree: c_ast.Node, lists: Sequence[str], *, cropped: bool) -> None:
    """Puts the lists in the places of their names."""
    if not lists:
        return
    for node in nodes_in(tree):
        match getattr(node, "init", None):
            case c_ast.InitList(exprs=[c_ast.ID(name=str() as name)]) if name.startswith(_MARK):
                node.init = _parsed(lists[int(name.removeprefix(_MARK))], node.init.coord, cropped=cropped)


def _parsed(text: str, coord: object, *, cropped: bool) -> TakenOut:
    whole = TakenOut([], coord, cropped=cropped)
    open_lists = [whole]
    for token in _TOKEN.findall(text)[1:-1]:
        match token:
            case "{":
                inner = TakenOut([], coord, cropped=cropped)
                open_lists[-1].exprs.append(inner)
                open_lists.append(inner)
            case "}":
                open_lists.pop()
            case ",":
                pass
            case _:
                open_lists[-1].exprs.append(_number(token, coord))
    return whole


def _number(token: str, coord: object) -> c_ast.Node:
    digits = token.lstrip("-+")
    real = any(c in digits for c in ".eE")
    node = c_ast.Constant(("float" if digits[-1] in "fF" else "double") if real else "int", digits, coord)
    return c_ast.UnaryOp("-", node, coord) if token[0] == "-" else node


def bind_constants(
    function: c_ast.FuncDef, given: Mapping[str, ConstantArray], sizes: Mapping[str, int], places: Places,
    *, cropped: bool,
) -> tuple[c_ast.Decl, ...]:  # fmt: skip
    """Takes the parameters with these names out of the function. Returns them as declarations of constants.
    sizes: values of parameters, which extents of a declaration in front of the function cannot name.

    A parameter of which only the zeros are known stays, with its other elements alone: `C[j][k]` becomes
    `C_there[j][k] ? C[C_at[j][k]] : 0`. Raises Failed C127 for a name that is no array parameter.
    """
    args = function.decl.type.args
    params = list(args.params) if args is not None else []
    arrays = {
        p.name: p for p in params if isinstance(getattr(p, "type", None), c_ast.ArrayDecl | c_ast.PtrDecl)
    }
    out: list[c_ast.Decl] = []
    for name, constant in given.items():
        if name not in arrays:
            raise no_array(name, arrays, function.decl.name)
        param = arrays[name]
        written = next((n for n in nodes_in(function.body) if base_of(assigned(n)) == name), None)
        if written is not None:
            what = f"`{name}` is written, and no constant"
            raise refused(what, "constants are arrays that are read alone", name, places.of(written))
        if not constant.pattern:
            params.remove(param)
            out.append(_declared(param, constant, scalar_type(param, places), places, cropped=cropped))
            out[-1].type = _with_sizes(out[-1].type, sizes)
            continue
        there, at = packed(constant)
        for suffix, table in ((THERE, there), (AT, at)):
            one = _declared(param, table, I32, places, cropped=cropped)
            one.type = _with_sizes(one.type, sizes)
            _rename(one, name + suffix)
            out.append(one)
        _read_packed(function.body, name)
        params[params.index(param)] = _packed_parameter(param, max(1, sum(1 for x in there.flat if x)))
    if given:
        function.decl.type.args = c_ast.ParamList(params, args.coord) if params else None
    return tuple(out)


def _with_sizes(node: c_ast.Node, sizes: Mapping[str, int]) -> c_ast.Node:
    """A copy with the values of sizes in place of their names."""
    if isinstance(node, c_ast.ID) and node.name in sizes:
        return c_ast.Constant("int", str(sizes[node.name]), node.coord)
    out = copy(node)
    for key, child in node.children():
        put(out, key, _with_sizes(child, sizes))
    return out


def _rename(decl: c_ast.Decl, name: str) -> None:
    """The declaration of an array of int with this name."""
    decl.name = name
    node = decl.type
    while isinstance(node, c_ast.ArrayDecl):
        node = node.type
    node.declname = name
    node.type = c_ast.IdentifierType(["int"], decl.coord)


def _packed_parameter(param: c_ast.Decl, count: int) -> c_ast.Decl:
    """`const float C[count]`."""
    out, inner = copy(param), param.type
    while isinstance(inner, c_ast.ArrayDecl | c_ast.PtrDecl):
        inner = inner.type
    out.type = c_ast.ArrayDecl(inner, c_ast.Constant("int", str(count), param.coord), [], param.coord)
    return out


def _read_packed(node: c_ast.Node, name: str) -> None:
    """Replaces every element of the array in `node`."""
    for key, child in list(node.children()):
        _read_packed(child, name)
        whole = not isinstance(node, c_ast.ArrayRef) or key != "name"
        if whole and isinstance(child, c_ast.ArrayRef) and base_of(child) == name:
            at = c_ast.ArrayRef(c_ast.ID(name, child.coord), _of(child, name + AT), child.coord)
            zero = c_ast.Constant("int", "0", child.coord)
            put(node, key, c_ast.TernaryOp(_of(child, name + THERE), at, zero, child.coord))


def _of(element: c_ast.Node, name: str) -> c_ast.Node:
    """The element of another array at the same place."""
    if not isinstance(element, c_ast.ArrayRef):
        return c_ast.ID(name, element.coord)
    return c_ast.ArrayRef(_of(element.name, name), deepcopy(element.subscript), element.coord)


def _declared(
    param: c_ast.Decl, given: ConstantArray, dtype: DType, places: Places, *, cropped: bool
) -> c_ast.Decl:
    """`static const float C[25][25] = {…};` for the parameter, with elements of this type."""
    coord = param.coord
    decl = copy(param)
    elements = given.elements
    if isinstance(param.type, c_ast.PtrDecl):
        dims, _ = dimensions(param.type.type)
        if not dims:
            given = replace(given, shape=(len(given.flat),), elements=given.flat)
        extent = c_ast.Constant("int", str(given.shape[0]), coord)
        decl.type = c_ast.ArrayDecl(param.type.type, extent, [], coord)
        elements = given.elements
    decl.type = _const(decl.type)
    decl.init = _nodes(elements, dtype, coord, cropped=cropped)
    check_type(param.name, given, dtype, places.of(param, param.name))
    decl.init.given = given
    return decl


def _const(declared: c_ast.Node) -> c_ast.Node:
    """The type with const elements."""
    out = copy(declared)
    if isinstance(out, c_ast.ArrayDecl):
        out.type = _const(out.type)
    else:
        out.quals = [*{*(out.quals or []), "const"}]
    return out


def _nodes(elements: Nested, dtype: DType, coord: object, *, cropped: bool) -> TakenOut:
    """Numbers as an initialiser."""
    rows = [
        _nodes(x, dtype, coord, cropped=cropped) if isinstance(x, list) else _element(x, dtype, coord)
        for x in elements
    ]
    return TakenOut(rows, coord, cropped=cropped)


def _element(value: float, dtype: DType, coord: object) -> c_ast.Node:
    if not dtype.is_float and value == -(2**63):
        # C has no literal of it
        most = _element(-(2**63 - 1), dtype, coord)
        return c_ast.BinaryOp("-", most, c_ast.Constant("int", "1", coord), coord)
    kind = "int" if not dtype.is_float else "double" if dtype == F64 else "float"
    node = c_ast.Constant(kind, number_text(value, dtype), coord)
    return c_ast.UnaryOp("-", node, coord) if str(value)[0] == "-" else node
