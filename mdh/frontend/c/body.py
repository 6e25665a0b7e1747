"""Walks the function's body once in C's order: loops, locals, branches, assignments."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from mdh.diagnostics import fail
from mdh.frontend.c.best import best_of
from mdh.frontend.c.branches import check_condition, delay_writes, join_assignments, joined_locals
from mdh.frontend.c.collect import collected, counters_of, headed
from mdh.frontend.c.ctypes_of import scalar_type
from mdh.frontend.c.declared_arrays import declare_array
from mdh.frontend.c.eighths import number, stored
from mdh.frontend.c.last import kept_behind, leave, note_last
from mdh.frontend.c.lift_expr import (
    called,
    check_unset,
    element,
    has_value,
    lift,
    lift_any,
    lift_as,
    no_value,
    operation,
)
from mdh.frontend.c.literals import check_enumerator
from mdh.frontend.c.loops import MOST_LOOPS, counter_of, counter_type, counters_inside, loop_of
from mdh.frontend.c.places import items_of, nodes_in
from mdh.frontend.c.pragmas import inside_scop, read_pragma
from mdh.frontend.c.record import forget, record
from mdh.frontend.c.scope import Local, NameScope
from mdh.frontend.c.sink import LastValue, assigned_in_loop, sunk
from mdh.frontend.guards import negation
from mdh.frontend.limits import check_size
from mdh.frontend.statements import Array
from mdh.frontend.typing_rules import convert, truth
from mdh.ir.dtype import I32
from mdh.ir.expr import Const, Expr, Load, Var
from mdh.ir.names import fresh


@dataclass(frozen=True)
class Behind:
    """Statements, the names in each (computed once for a whole block), and the number of the first one."""

    nodes: Sequence[c_ast.Node]
    names: list[frozenset[str]] = field(default_factory=list)
    first: int = 0
    before: tuple[c_ast.Node, ...] = ()

    def at(self, first: int) -> "Behind":
        """Those from number `first` on."""
        return Behind(self.nodes, self.names, first)

    def after(self, nodes: Sequence[c_ast.Node]) -> "Behind":
        """These behind `nodes`."""
        return Behind(self.nodes, self.names, self.first, (*nodes, *self.before))

    def naming(self, name: str | None) -> list[c_ast.Node]:
        """Those in which `name` stands."""
        if not self.names:
            self.names.extend(_names(n) for n in self.nodes)
        own = [n for n in self.before if name in _names(n)]
        numbers = range(self.first, len(self.nodes))
        return [*own, *(self.nodes[k] for k in numbers if name in self.names[k])]


def _names(node: c_ast.Node) -> frozenset[str]:
    """The names of variables that a statement uses or declares, which do not change when locals move."""
    known = (n for n in nodes_in(node) if isinstance(n, c_ast.ID | c_ast.Decl | LastValue))
    return frozenset(n.name for n in known if n.name is not None)


def walk_function(items: list[c_ast.Node], scope: NameScope) -> None:
    """Walks the function's own block, which may end in `return;`."""
    for n, item in enumerate(items):
        if isinstance(item, c_ast.Return) and item.expr is None:
            with collected(item, scope):
                if items[n + 1 :]:
                    raise fail("C113", "code after `return` is never run", scope.places.of(items[n + 1]))
            items = items[:n]
            break
    walk_body(items, scope)


def walk_body(items: list[c_ast.Node], scope: NameScope) -> None:
    """Walks the statements of one block; names declared in it end with it."""
    cells, values, declared = dict(scope.cells), dict(scope.values), scope.declared
    tables, rows = dict(scope.tables), dict(scope.rows)
    scope.declared = {}
    items = inside_scop(items, scope)
    behind = Behind(items)
    for n, item in enumerate(items):
        with collected(item, scope):
            _statement(item, behind.at(n + 1), scope)
    scope.end_block(declared)
    scope.cells, scope.values, scope.tables, scope.rows = cells, values, tables, rows


def _statement(node: c_ast.Node, rest: Behind, scope: NameScope) -> None:
    match node:
        case c_ast.Compound():
            walk_body(node.block_items or [], scope)
        case c_ast.For():
            _for(node, scope)
        case c_ast.Decl():
            _declare(node, rest.naming(node.name), scope)
        case c_ast.DeclList():
            for d in node.decls:
                with collected(d, scope):
                    _declare(d, rest.naming(d.name), scope)
        case c_ast.Assignment():
            _assign(node.lvalue, node.op, node.rvalue, node, scope)
        case c_ast.UnaryOp(op="++" | "p++" | "--" | "p--" as op):
            one = c_ast.Constant("int", "1", node.coord)
            _assign(node.expr, "+=" if "+" in op else "-=", one, node, scope)
        case c_ast.If():
            _if(node, scope)
        case c_ast.Pragma():
            read_pragma(node, scope)
        case c_ast.EmptyStatement() | c_ast.Typedef():
            pass
        case c_ast.Return() if scope.returns:
            pass
        case LastValue():
            note_last(node.name, scope)
        case (
            c_ast.While() | c_ast.DoWhile() | c_ast.Goto() | c_ast.Switch() | c_ast.Break() | c_ast.Continue()
        ):
            what = type(node).__name__.lower().replace("dowhile", "do … while")
            raise fail(
                "C113",
                f"`{what}` is not supported",
                scope.places.of(node),
                help="use `for` loops with constant bounds",
            )
        case c_ast.Return(expr=None):
            raise fail("C113", "`return` inside of a block is not supported", scope.places.of(node),
                       help="put what it leaves out under the opposite condition")  # fmt: skip
        case c_ast.ExprList():
            for n, e in enumerate(node.exprs):
                _statement(e, rest.after(node.exprs[n + 1 :]), scope)
        case c_ast.Cast() if _unused(node):
            pass
        case c_ast.FuncCall():
            raise fail("C113", "a call as a statement has no effect that mdh knows", scope.places.of(node),
                       help="remove it; results are stored by assignments")  # fmt: skip
        case (
            c_ast.ID() | c_ast.Constant() | c_ast.ArrayRef() | c_ast.BinaryOp() | c_ast.TernaryOp()
            | c_ast.UnaryOp() | c_ast.Cast()
        ):  # fmt: skip
            raise fail("C113", "this statement has no effect", scope.places.of(node),
                       help="remove it; results are stored by assignments")  # fmt: skip
        case _:
            raise fail("C113", f"{called(node)} is not supported", scope.places.of(node))


def _unused(node: c_ast.Cast) -> bool:
    """Whether this is `(void)x;`, which says that x is not used."""
    words = getattr(getattr(node.to_type.type, "type", None), "names", None)
    return words == ["void"] and isinstance(node.expr, c_ast.ID)


def _for(node: c_ast.For, scope: NameScope) -> None:
    with headed(items_of(node.stmt), counters_of(node.init), scope, walk_body):
        name, fresh = counter_of(node, scope)
        hidden, cell = scope.locals.get(name), scope.cells.get(name)
        outer = None if fresh else hidden or cell
        if outer is None and not fresh and name in scope.values:
            raise fail("C118", f"`{name}` cannot be assigned to here", scope.places.of(node.init, name),
                       help="loop variables and parameters are read-only: declare another")  # fmt: skip
        declared = counter_type(node, scope) if outer is None else outer.dtype
        read = loop_of(node, scope, declared)
    scope.locals.pop(name, None)
    scope.cells.pop(name, None)
    outer_loops, outer_values, outer_conds = scope.loops, dict(scope.values), scope.conds
    if len(outer_loops) == MOST_LOOPS:
        raise fail(
            "C102", f"loops nest deeper than {MOST_LOOPS}", read.loop.span, help="join some of the loops"
        )
    scope.values = {**scope.values, name: read.counter}
    scope.loops = (*outer_loops, read.loop)
    scope.conds = (*outer_conds, *read.conds)
    for counter in counters_inside(node.stmt):
        if counter in scope.locals:
            # before the next loop it has the value that the last iteration left
            scope.locals[counter] = Local(scope.locals[counter].dtype, None)
    walk_body(items_of(node.stmt), scope)
    scope.loops, scope.values, scope.conds = outer_loops, outer_values, outer_conds
    leave(read.loop, scope, known=not read.conds)
    check_unset(scope)
    after = None if read.after is None else Const(read.after, declared)
    if hidden is not None:
        varies = read.loop.span if after is None else None
        scope.locals[name] = hidden if fresh else Local(declared, after, last_of=varies)
    if cell is not None:
        scope.cells[name] = cell
        if not fresh:
            scope.begin()
            if after is None:
                what = f"`{name}` is used after loops, and where this one leaves it varies"
                raise fail("C115", what, read.loop.span, help="declare the counter in the loop's header")
            record(scope, cell, after, scope.places.of(node, name))


def _declare(node: c_ast.Decl, rest: list[c_ast.Node], scope: NameScope) -> None:
    """Declares a name. rest: the statements after it in its block."""
    scope.begin()
    span = scope.places.of(node, node.name or "")
    if isinstance(node.type, c_ast.FuncDecl):
        raise fail("C113", "a function declared inside a function is not supported", span)
    dtype = scalar_type(node, scope.places)
    array = isinstance(node.type, c_ast.ArrayDecl)
    if node.name in scope.arrays and ((array and not scope.loops) or node.name not in scope.held):
        raise fail("C113", f"`{node.name}` is an array already, and cannot be declared again", span,
                   help="give it another name")  # fmt: skip
    scope.tables.pop(node.name, None)
    if array:
        declare_array(node, rest, dtype, scope)
        return
    if isinstance(node.type, c_ast.PtrDecl):
        raise fail("C113", f"the local pointer `{node.name}` is not supported", span,
                   help="subscript the array itself: A[i*N + j]")  # fmt: skip
    if sunk(node, rest):
        return
    quals = getattr(node.type, "quals", None) or []
    scope.declare(node.name)
    scope.locals[node.name] = Local(dtype, None)
    given = None if node.init is None else lift_any(node.init, scope)
    check_enumerator(node, given, scope.places)
    value = None if given is None else stored(given, dtype, node, scope.places)
    if value is not None:
        check_size(value, span)
    if "const" in quals and isinstance(value, Const):
        del scope.locals[node.name]
        scope.values[node.name] = value
        return
    if not any(assigned_in_loop(r, node.name) for r in rest) or kept_behind(node, rest):
        scope.locals[node.name] = Local(dtype, value, uses=tuple(scope.gathered))
        return
    del scope.locals[node.name]
    name = fresh(node.name, scope.taken)
    shape = tuple(lv.extent for lv in scope.loops) or (1,)
    index: tuple[Expr, ...] = tuple(Var(lv.name) for lv in scope.loops) or (Const(0, I32),)
    scope.arrays[name] = Array(name, dtype, shape, False, True, span)
    scope.held.add(name)
    scope.cells[node.name] = Load(name, index, dtype)
    if value is not None:
        record(scope, scope.cells[node.name], value, scope.places.of(node, node.name))


def _if(node: c_ast.If, scope: NameScope) -> None:
    scope.begin()
    if node.iffalse is None:
        best = best_of(node, scope)
        if best is not None:
            scope.statements.append(best)
            for target in best.targets:
                forget(scope, target)
            return
    scope.begin()
    with headed([*items_of(node.iftrue), *items_of(node.iffalse)], (), scope, walk_body):
        cond = truth(lift(node.cond, scope))
    if isinstance(cond, Const):
        _side(node.iftrue if cond.value else node.iffalse, None, scope)
        return
    outer = scope.cond_uses
    scope.cond_uses = (*outer, *scope.gathered)
    first, before = len(scope.statements), dict(scope.locals)
    _side(node.iftrue, cond, scope)
    middle, then, scope.locals = len(scope.statements), scope.locals, before
    _side(node.iffalse, negation(cond), scope)
    asked, scope.cond_uses = scope.cond_uses, outer
    span = scope.places.of(node.cond)
    written = {t.buffer for s in scope.statements[first:] for t in s.targets}
    scope.locals = joined_locals(cond, asked, then, scope.locals, written, span)
    join_assignments(cond, first, middle, scope)
    delay_writes(cond, first, scope)
    check_condition(cond, first, span, scope)


def _side(branch: c_ast.Node | None, cond: Expr | None, scope: NameScope) -> None:
    """Walks one side of an `if`, on which `cond` holds."""
    if branch is None:
        return
    outer = scope.conds
    scope.conds = outer if cond is None else (*outer, cond)
    walk_body(items_of(branch), scope)
    scope.conds = outer


def _assign(target: c_ast.Node, op: str, value_node: c_ast.Node, node: c_ast.Node, scope: NameScope) -> None:
    scope.begin()
    if isinstance(target, c_ast.ID) and target.name in scope.locals and target.name not in scope.cells:
        _assign_local(target.name, op, value_node, scope)
        return
    if isinstance(target, c_ast.ID) and target.name in scope.cells:
        load = scope.cells[target.name]
        name = target.name
    elif isinstance(target, c_ast.ArrayRef) or (isinstance(target, c_ast.UnaryOp) and target.op == "*"):
        load, array = element(target, scope)
        name = array.name
    else:
        word = getattr(target, "name", "")
        if isinstance(target, c_ast.ID) and word in scope.values:
            raise fail("C118", f"`{word}` cannot be assigned to here", scope.places.of(target, word),
                       help="loop variables and parameters are read-only")  # fmt: skip
        lift(target, scope)
        raise fail("C118", "this cannot be assigned to", scope.places.of(target))
    if name in scope.tables or scope.arrays[load.buffer].const:
        raise fail("C118", f"`{name}` is const and cannot be written", scope.places.of(target, name))
    if op == "=":
        value = lift_as(value_node, load.dtype, scope)
    else:
        value = lift(value_node, scope)
        has_value(load.buffer, name, target, scope)
        scope.accesses(load, scope.places.of(target, name))
        value = operation(op[:-1], number(load, target, scope.places), value, node, scope)
    record(scope, load, value, scope.places.of(node, name))


def _assign_local(name: str, op: str, value_node: c_ast.Node, scope: NameScope) -> None:
    local = scope.locals[name]
    if op == "=":
        value = lift_as(value_node, local.dtype, scope)
    else:
        value = lift(value_node, scope)
        if local.value is None:
            raise no_value(name, local, value_node, scope)
        scope.gathered.extend(local.uses)
        old = number(local.value, value_node, scope.places)
        value = convert(operation(op[:-1], old, value, value_node, scope), local.dtype)
    check_size(value, scope.places.of(value_node))
    scope.locals[name] = Local(local.dtype, value, uses=tuple(scope.gathered))
