"""Replaces calls of a text's own functions of one `return` by their expressions.

    static float relu(float x) { return x > 0 ? x : 0; }

A call converts its arguments to the parameters' types and the result to the function's type (C11 6.5.2.2). An
expression has no side effects, so an argument may stand several times.
"""

from collections.abc import Mapping
from copy import deepcopy

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.places import Places, nodes_in
from mdh.source import Span

CALL = "C112"
MOST_NESTED = 16
"""The deepest nesting of calls."""
MOST_NODES = 20_000
"""The most nodes of expressions that calls are replaced by: `f(f(x))` doubles x where f has it twice."""
FORM = "write static float f(float x) { return EXPRESSION; }, or a macro"


def only_serves(node: c_ast.FuncDef) -> bool:
    """Whether a function only serves others: it returns a value, which no program does."""
    declared = getattr(node.decl.type.type, "type", None)
    return getattr(declared, "names", None) != ["void"]


def write_out_calls(function: c_ast.FuncDef, functions: Mapping[str, c_ast.FuncDef], places: Places) -> None:
    """Replaces every call in `function` of one of `functions`. Raises Failed C112, C102."""
    writer = _Writer(functions, places, _declared(function))
    writer.inside(function.body, ())


def _declared(function: c_ast.FuncDef) -> frozenset[str]:
    """The names of the function's parameters and locals."""
    return frozenset(n.name for n in nodes_in(function) if isinstance(n, c_ast.Decl) and n.name)


class _Writer:
    """declared: names that mean a variable of the calling function."""

    def __init__(
        self, functions: Mapping[str, c_ast.FuncDef], places: Places, declared: frozenset[str]
    ) -> None:
        self.functions, self.places, self.declared = functions, places, declared
        self.nodes = 0

    def inside(self, node: c_ast.Node, above: tuple[str, ...]) -> None:
        """Replaces the calls in `node`. above: the functions whose expressions it is in."""
        for key, child in list(node.children()):
            self.inside(child, above)
            if isinstance(child, c_ast.FuncCall) and getattr(child.name, "name", "") in self.functions:
                put(node, key, self.written(child, above))

    def written(self, call: c_ast.FuncCall, above: tuple[str, ...]) -> c_ast.Node:
        """The expression of a call, whose arguments hold no calls."""
        name = call.name.name
        place = self.places.of(call, name)
        helper = self.functions[name]
        if name in above or len(above) >= MOST_NESTED:
            what = f"`{name}` calls itself" if name in above else f"calls nest deeper than {MOST_NESTED}"
            raise fail(CALL, what, place, help="write the computation as a loop")
        value = self._value(helper, call)
        parameters = [p for p in helper.decl.type.args.params if p.name] if helper.decl.type.args else []
        given = call.args.exprs if call.args else []
        if len(given) != len(parameters):
            count = f"{len(parameters)} argument{'s' if len(parameters) != 1 else ''}"
            raise fail(CALL, f"`{name}` takes {count}, not {len(given)}", place, help=FORM)
        values = {
            p.name: c_ast.Cast(_type_name(p.type), a, call.coord)
            for p, a in zip(parameters, given, strict=True)
        }
        hidden = next((n.name for n in nodes_in(value) if self._is_hidden(n, values)), None)
        if hidden is not None:
            what = f"`{hidden}` in `{name}` is another variable than where it is called"
            raise fail(CALL, what, place, help="rename one of the two")
        holder = c_ast.Return(deepcopy(value), call.coord)
        for n in nodes_in(holder):
            n.coord = call.coord
        _substitute(holder, values)
        self._count(holder, place)
        self.inside(holder, (*above, name))
        return c_ast.Cast(_type_name(helper.decl.type.type), holder.expr, call.coord)

    def _is_hidden(self, node: c_ast.Node, values: Mapping[str, c_ast.Node]) -> bool:
        return isinstance(node, c_ast.ID) and node.name in self.declared and node.name not in values

    def _value(self, helper: c_ast.FuncDef, call: c_ast.FuncCall) -> c_ast.Node:
        """The expression that a function returns."""
        items = [n for n in helper.body.block_items or [] if not isinstance(n, c_ast.EmptyStatement)]
        arrays = (c_ast.ArrayDecl, c_ast.PtrDecl)
        given = helper.decl.type.args.params if helper.decl.type.args else []
        single = len(items) == 1 and isinstance(items[0], c_ast.Return) and items[0].expr is not None
        if not single or any(isinstance(getattr(p, "type", None), arrays) for p in given):
            name = call.name.name
            what = f"`{name}` is more than one `return` of its parameters, so mdh does not call it"
            raise fail(CALL, what, self.places.of(call, name), help=FORM)
        return items[0].expr

    def _count(self, node: c_ast.Node, place: Span) -> None:
        """Counts the nodes of an expression. Raises Failed C102 if there are too many."""
        for _ in nodes_in(node):
            self.nodes += 1
            if self.nodes > MOST_NODES:
                what = f"calls are replaced by more than {MOST_NODES:,} parts up to here"
                raise fail("C102", what, place, help="store a part in an array of its own")


def _type_name(declared: c_ast.Node) -> c_ast.Typename:
    return c_ast.Typename(None, [], None, c_ast.TypeDecl(None, [], None, declared.type, declared.coord))


def _substitute(node: c_ast.Node, values: Mapping[str, c_ast.Node]) -> None:
    """Puts the values in place of the names."""
    for key, child in list(node.children()):
        if isinstance(child, c_ast.FuncCall):
            if child.args:
                _substitute(child.args, values)
        elif isinstance(child, c_ast.ID) and child.name in values:
            put(node, key, deepcopy(values[child.name]))
        else:
            _substitute(child, values)


def put(node: c_ast.Node, key: str, new: c_ast.Node) -> None:
    """Replaces a child; its key is `name` or `names[3]`."""
    name, bracket, rest = key.partition("[")
    if bracket:
        getattr(node, name)[int(rest[:-1])] = new
    else:
        setattr(node, name, new)
