"""A failing program made smaller, as long as it fails in the same way.

Edits are tried from large to small: statements, branches, sizes, loop headers, operands. Each gives a whole
new tree; the first that still fails is kept, and all edits are tried again on it.
"""

import re
from collections.abc import Callable, Iterator
from copy import deepcopy

from tests.soundness.data import dtype_of
from tests.soundness.tree import Expr, For, If, Line, Node, Op, Tree, expr_text, lines_of, number, words_of

Fails = Callable[[Tree], bool]
MOST_TRIES = 1500


def shrunk(tree: Tree, fails: Fails, tries: int = MOST_TRIES) -> Tree:
    """The smallest tree found for which `fails` still holds, as it does for `tree`."""
    at, since = 0, 0
    changes = list(_changes(tree))
    while tries and since < len(changes):
        at %= len(changes)
        copy = deepcopy(tree)
        if changes[at](copy) and legal(copy):
            tries -= 1
            if fails(copy):
                # edits behind this one are next: those before it have just failed
                tree, since = copy, 0
                changes = list(_changes(tree))
                continue
        at, since = at + 1, since + 1
    return tree


Change = Callable[[Tree], bool]
"""Changes a tree in place; False where it is left as it was."""


def _changes(tree: Tree) -> Iterator[Change]:
    paths = list(_places(tree.body))
    for path in paths:
        yield lambda t, p=path: _remove(t, p)  # type: ignore[misc]
    for path in paths:
        yield lambda t, p=path: _unwrap(t, p)  # type: ignore[misc]
    for size, n in tree.sizes.items():
        for less in sorted({1, 2, 3, n // 2, n - 1} - {0}):
            if less < n:
                yield lambda t, s=size, k=less: _resize(t, s, k)  # type: ignore[misc]
    yield _spelled
    for a, b in (("M", "N"), ("K", "N"), ("K", "M")):
        yield lambda t, x=a, y=b: _same_size(t, x, y)  # type: ignore[misc]
    for path in paths:
        for way in range(5):
            yield lambda t, p=path, w=way: _plain_header(t, p, w)  # type: ignore[misc]
    for path in paths:
        for k, operand in enumerate(_operands(_at(tree, path))):
            for way in range(_ways(operand)):
                yield lambda t, p=path, n=k, w=way: _simpler(t, p, n, w)  # type: ignore[misc]
    for name in tree.params:
        yield lambda t, n=name: _plain_type(t, n)  # type: ignore[misc]
    yield _no_macros


Path = tuple[int, ...]
"""Positions from the outermost list of statements inwards; an `else` counts on from its `if`."""


def _places(body: list[Node], before: Path = ()) -> Iterator[Path]:
    for n, node in enumerate(body):
        yield (*before, n)
        yield from _places(_inside(node), (*before, n))


def _inside(node: Node) -> list[Node]:
    match node:
        case Line():
            return []
        case If(_, then, other):
            return [*then, *other]
        case For():
            return node.body


def _list_of(tree: Tree, path: Path) -> tuple[list[Node], int]:
    """The list that holds the statement, and its position there."""
    body, k = tree.body, path[0]
    for step in path[1:]:
        node = body[k]
        match node:
            case If(_, then, other):
                body, k = (then, step) if step < len(then) else (other, step - len(then))
            case For():
                body, k = node.body, step
            case Line():
                raise IndexError(path)
    return body, k


def _at(tree: Tree, path: Path) -> Node:
    body, k = _list_of(tree, path)
    return body[k]


def _remove(tree: Tree, path: Path) -> bool:
    body, k = _list_of(tree, path)
    del body[k]
    return True


def _unwrap(tree: Tree, path: Path) -> bool:
    """A branch without its condition, an inner loop's body once."""
    body, k = _list_of(tree, path)
    match body[k]:
        case If(_, then, _, guard) if not guard:
            body[k : k + 1] = then
            return True
        case For(var=var, body=inner) if var not in words_of(inner):
            body[k : k + 1] = inner
            return True
    return False


def _resize(tree: Tree, size: str, n: int) -> bool:
    tree.sizes[size] = n
    return True


def _spelled(tree: Tree) -> bool:
    was, tree.spelling = tree.spelling, "macro"
    return was != "macro"


def _no_macros(tree: Tree) -> bool:
    lines = [_at(tree, p) for p in _places(tree.body)]
    found = [n for n in lines if isinstance(n, Line) and "TWICE({})" in n.form]
    for n in found:
        n.form = n.form.replace("TWICE({})", "{}")
    return bool(found)


def _same_size(tree: Tree, a: str, b: str) -> bool:
    changed = tree.sizes[a] != tree.sizes[b]
    tree.sizes[a] = tree.sizes[b]
    return changed


def _plain_header(tree: Tree, path: Path, way: int) -> bool:
    """A header more like `for (int i = 0; i < N; i++)`."""
    node = _at(tree, path)
    if not isinstance(node, For):
        return False
    before = (node.low, node.top, node.step, node.style, node.ctype)
    text = "\n".join(lines_of(node.body, 0))
    match way:
        case 0:
            node.ctype = "int"
        case 1:
            node.step, node.style = 1, "<"
        case 2 if not re.search(rf"\b{node.var} - \d", text):
            node.low = 0
        case 3 if not re.search(rf"\b{node.var} \+ \d", text):
            node.top = 0
        case 4 if node.step == 1:
            node.style = "<"
    return before != (node.low, node.top, node.step, node.style, node.ctype)


def _operands(node: Node) -> list[Expr]:
    """Every operand of a statement, outermost first."""
    out: list[Expr] = []

    def walk(e: Expr) -> None:
        out.append(e)
        if isinstance(e, Op):
            for a in e.args:
                walk(a)

    for e in node.args if isinstance(node, Line) else [node.cond] if isinstance(node, If) else []:
        walk(e)
    return out


def _ways(e: Expr) -> int:
    return (
        1 + (len(e.args) if isinstance(e, Op) and e.loose else 0) if not isinstance(e, str) or e != "1" else 0
    )


def _simpler(tree: Tree, path: Path, number_: int, way: int) -> bool:
    """Operand `number_` of a statement becomes one of its own operands, or 1."""
    node = _at(tree, path)
    if isinstance(node, If) and node.guard:
        return False
    count = -1

    def change(e: Expr) -> Expr:
        nonlocal count
        count += 1
        if count == number_:
            return "1" if not isinstance(e, Op) or way == len(e.args) else e.args[way]
        if isinstance(e, Op):
            e.args = [change(a) for a in e.args]
        return e

    if isinstance(node, Line):
        before = [expr_text(a) for a in node.args]
        node.args = [change(a) for a in node.args]
        return before != [expr_text(a) for a in node.args]
    assert isinstance(node, If)
    old = expr_text(node.cond)
    node.cond = change(node.cond)
    return old != expr_text(node.cond)


def _plain_type(tree: Tree, name: str) -> bool:
    p = tree.params[name]
    was = p.ctype
    p.ctype = "float" if dtype_of(p.ctype).is_float else "int"
    return was != p.ctype


def legal(tree: Tree) -> bool:
    """Every loop runs, nothing is left empty, and what a local array first holds is still stored."""
    if not tree.body:
        return False
    for path in _places(tree.body):
        node = _at(tree, path)
        if isinstance(node, For):
            if not node.body or number(node.size, tree.sizes) - node.top - node.low < 1:
                return False
        elif isinstance(node, If) and not node.then:
            return False
    for name in tree.locals:
        lines = [_at(tree, p) for p in _places(tree.body)]
        pinned = any(isinstance(n, Line) and n.pinned and n.form.startswith(f"{name}[") for n in lines)
        if not pinned and name in words_of(tree.body):
            return False
    return True
