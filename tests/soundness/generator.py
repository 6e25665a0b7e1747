"""Random C functions of one to five statements over shared arrays, whose dependences matter."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from tests.soundness.natural import NATURAL_FORMS
from tests.soundness.pool import FLOATS, INTEGERS, Pool
from tests.soundness.renamed import MORE_FORMS
from tests.soundness.statements import FORMS, Forms
from tests.soundness.tree import Expr, For, If, Line, Node, Op, Tree, head, renamed, words_of
from tests.soundness.turned import TURNED_FORMS

SIZES = (1, 2, 3, 3, 4, 5, 5, 5, 6, 7, 7, 8, 9, 11, 13)
THEMES: tuple[tuple[int, str, tuple[str, ...]], ...] = (
    (34, "float", ("float", "float", "double", "int")),
    (10, "double", ("double", "float", "int64_t")),
    (24, "int", ("int", "int", "float", "unsigned", "int64_t")),
    (8, "unsigned", ("unsigned", "int", "uint8_t", "int64_t")),
    (16, "", INTEGERS),
    (4, "_Float16", ("float", "_Float16", "int")),
    (8, "float", ("int", "unsigned char", "double", "int64_t")),
)
COUNTERS = ("i", "j", "k", "l")
VARYING_FROM = 20_000_000
"""Programs of seeds from here on have loops whose ends depend on outer counters, and MORE_FORMS."""
TURNED_FROM = 20_900_000
"""Those of seeds from here on have TURNED_FORMS too."""
NATURAL_FROM = 22_000_000
"""Those of seeds from here on have NATURAL_FORMS too."""
AWKWARD = (
    "one", "zero", "i_2", "i_0", "j_1", "i0", "x_0", "sum_1", "part", "sum", "tmp", "lane", "size", "main",
    "min", "max", "kernel", "global", "local", "half", "uint", "float4", "blockIdx", "threadIdx", "this",
    "class", "new", "template", "get_global_id", "barrier", "y1", "j0", "I",
)  # fmt: skip
"""Names that generated text, CUDA, OpenCL, C++ or libraries may use for something else."""
NEVER_ZERO = re.compile(r"\(\{\} ([/%]) \(\(\{\} & 7\) \+ 1\)\)")
WITH_NUMBER = re.compile(r"\(\{\} (<|>|<=|>=|==|!=) -?\d\)")
SPELLINGS = ("macro",) * 5 + ("literal",) * 3 + ("const", "parameter")


def random_statements(seed: int) -> Tree:
    """The program of this seed, the same everywhere."""
    rng = Random(f"statements {seed}")
    weights = [w for w, _, _ in THEMES]
    _, main, others = rng.choices(THEMES, weights)[0]
    sizes = {"N": rng.choice(SIZES), "M": rng.choice(SIZES), "K": rng.choice(SIZES[:7])}
    pool = Pool(rng, sizes, main or rng.choice(INTEGERS), others, rng.choice((0.05, 0.15, 0.3)))
    pool.fill()
    forms = Forms(pool)
    if rng.random() < 0.15:
        pool.macros.append("#define TWICE(a) ((a) + (a))")
    body: list[Node] = []
    if rng.random() < 0.15:
        body += _temporary(pool, forms)
    known = _forms_of(seed)
    kinds = list(known)
    for _ in range(rng.choice((1, 2, 2, 2, 3, 3, 4, 5) if seed < NATURAL_FROM else (1, 1, 1, 2, 2, 3))):
        kind = rng.choices(kinds, [known[k][0] for k in kinds])[0]
        forms.values.begin()
        body += known[kind][1](forms)
    body = _mixed(rng, body, pool)
    if seed >= VARYING_FROM and rng.random() < 0.3:
        body = _repeated(rng, body)
    if pool.macros:
        _twice(rng, body)
    tree = Tree(f"f{seed}", sizes, rng.choice(SPELLINGS), pool.macros, pool.params(), pool.locals(), body,
                dict(pool.limits), dict(pool.scalars))  # fmt: skip
    tree = renamed(tree, _names(rng, pool)) if rng.random() < 0.12 else tree
    if rng.random() < 0.08:
        _bare(rng, tree)
    if rng.random() < 0.05:
        _diagonal(rng, tree)
    if rng.random() < 0.3:
        _divided(rng, tree)
    if seed >= VARYING_FROM:
        _varying(Random(f"varying {seed}"), tree.body, (), sizes, kept=seed >= NATURAL_FROM)
    return tree


def _forms_of(seed: int) -> Mapping[str, tuple[int, Callable[[Forms], list[Node]]]]:
    if seed >= NATURAL_FROM:
        return NATURAL_FORMS
    return TURNED_FORMS if seed >= TURNED_FROM else MORE_FORMS if seed >= VARYING_FROM else FORMS


def _repeated(rng: Random, body: list[Node]) -> list[Node]:
    """Some nodes in a loop around them, as of time steps. Its counter may stand in values."""
    first = rng.randrange(len(body))
    end = first + 1
    while end < len(body) and rng.random() < 0.7:
        end += 1
    inside = body[first:end]
    if any(pinned(n) for n in inside) or (any(map(_declares, inside)) and rng.random() < 0.5):
        return body
    for line in _lines(inside):
        if line.form.endswith(" = {};") and len(line.args) == 1 and rng.random() < 0.25:
            line.args = [Op("({} + turn)", line.args)]
    return [*body[:first], For("turn", "K", inside, low=rng.choice((0, 0, 1))), *body[end:]]


def _varying(
    rng: Random, body: list[Node], outer: tuple[For, ...], sizes: dict[str, int], *, kept: bool
) -> None:
    """Some ends of inner loops become sums of an outer counter and a number, inside of what they were. kept:
    ends that a form has chosen stay as they are."""
    for node in body:
        match node:
            case If():
                _varying(rng, node.then, outer, sizes, kept=kept)
                _varying(rng, node.other, outer, sizes, kept=kept)
            case For() if not pinned(node):
                if outer and rng.random() < 0.6 and not (kept and (node.least or node.most)):
                    _bound_by(rng, node, rng.choice(outer), sizes)
                _varying(rng, node.body, (*outer, node), sizes, kept=kept)
            case _:
                pass


def _bound_by(rng: Random, f: For, o: For, sizes: dict[str, int]) -> None:
    low, high = f.low, sizes[f.size] - 1 - f.top
    by = rng.choice((1, 1, 1, 1, 1, -1, 2))
    ends = sorted(by * x for x in (o.low, sizes[o.size] - 1 - o.top))
    word = f"(int){o.var}" if o.ctype in ("unsigned", "size_t") and rng.random() < 0.7 else o.var
    term = {1: word, -1: f"-{word}", 2: f"2 * {word}"}[by]
    sides = rng.choice(("most", "most", "least", "least", "both"))
    if sides != "least":
        f.most = _sum(term, high - ends[1] - rng.choice((0, 0, 0, 1, 2)))
    if sides != "most":
        f.least = _sum(term, low - ends[0] + rng.choice((0, 0, 0, 1, 2)))


def _sum(term: str, number: int) -> str:
    return term if not number else f"{term} {'+' if number > 0 else '-'} {abs(number)}"


def _divided(rng: Random, tree: Tree) -> None:
    """Some divisors that are never 0 become any, behind a condition."""
    for op in _operations(tree.body):
        by = NEVER_ZERO.fullmatch(op.form)
        if by is not None and rng.random() < 0.7:
            op.form, op.loose = f"({{1}} > 0 ? {{0}} {by[1]} {{1}} : 7)", False


def _diagonal(rng: Random, tree: Tree) -> None:
    """Some statements are about the diagonal of a square array."""
    square = [n for n, p in tree.params.items() if p.extents == ("N", "N") and not p.flat]
    name = rng.choice(square) if square else ""
    pattern = re.compile(rf"\b{name}\[(\w+)\]\[\w+\]")
    for line in _lines(tree.body) if square else ():
        if rng.random() < 0.6:
            line.form = pattern.sub(rf"{name}[\1][\1]", line.form)
            line.args = [pattern.sub(rf"{name}[\1][\1]", a) if isinstance(a, str) else a for a in line.args]


def _bare(rng: Random, tree: Tree) -> None:
    """Some comparisons with a number become conditions that are a number."""
    for op in _operations(tree.body):
        if WITH_NUMBER.fullmatch(op.form) and rng.random() < 0.7:
            op.form = rng.choice(("({})", "({})", "!({})"))


def _operations(body: list[Node]) -> Iterator[Op]:
    for node in body:
        match node:
            case Line():
                yield from _parts(node.args)
            case If():
                yield from _parts([node.cond])
                yield from _operations([*node.then, *node.other])
            case For():
                yield from _operations(node.body)


def _parts(expressions: Sequence[Expr]) -> Iterator[Op]:
    for e in expressions:
        if isinstance(e, Op):
            yield e
            yield from _parts(e.args)


def _names(rng: Random, pool: Pool) -> dict[str, str]:
    """Other names of parameters. Scalars may have those of counters, which hide them there."""
    free = list(AWKWARD)
    rng.shuffle(free)
    scalars = rng.sample(COUNTERS, 2) if rng.random() < 0.6 else [free.pop(), free.pop()]
    names = dict(zip(pool.scalars, scalars, strict=True))
    arrays = [a for a in pool.arrays if a not in pool.temps]
    return names | {a: free.pop() for a in rng.sample(arrays, rng.choice((0, 1, 3)))}


def _temporary(pool: Pool, forms: Forms) -> list[Node]:
    """An array of the function's own, filled before anything reads it."""
    name = pool.rng.choice(("z", "w", "C"))
    pool.arrays[name] = array = replace(pool.arrays[name], flat=False, pad=0)
    loops, v = forms.nest(list(array.dims), ["i", "j", "k"][: len(array.dims)], whole=True)
    value = forms.values.value(array.ctype, v, 1)
    pool.temps.add(name)
    if name in words_of([Line("{}", [value])]):
        value = "1"
    return forms.around(loops, [Line(f"{array.at(list(v))} = {{}};", [value], pinned=True)])


def pinned(node: Node) -> bool:
    match node:
        case Line():
            return node.pinned
        case If():
            return any(pinned(n) for n in (*node.then, *node.other))
        case For():
            return any(pinned(n) for n in node.body)


def _mixed(rng: Random, body: list[Node], pool: Pool) -> list[Node]:
    """Statements of one loop instead of two, of two instead of one, or in another order."""
    first = [n for n in body if pinned(n)]
    body = [n for n in body if not pinned(n)]
    for _ in range(rng.choice((0, 0, 0, 1, 1, 2))):
        k = rng.randrange(len(body))
        match rng.randint(0, 3):
            case 0 if k + 1 < len(body) and not _declares(body[k]) and not _declares(body[k + 1]):
                body[k], body[k + 1] = body[k + 1], body[k]
            case 1 | 2:
                _fuse(body, k)
            case _:
                _split(rng, body, k)
    return first + body


def _declares(node: Node) -> bool:
    """A local that later statements of the block may use."""
    return isinstance(node, Line) and node.form.split(" ")[0] in (*FLOATS, *INTEGERS, "const")


def _fuse(body: list[Node], k: int) -> None:
    if k + 1 >= len(body):
        return
    a, b = body[k], body[k + 1]
    if isinstance(a, For) and isinstance(b, For) and head(a) == head(b):
        if any(_declares(n) for n in (*a.body, *b.body)):
            return
        body[k : k + 2] = [replace(a, body=a.body + b.body)]


def _split(rng: Random, body: list[Node], k: int) -> None:
    a = body[k]
    if not isinstance(a, For) or len(a.body) < 2 or any(_declares(n) for n in a.body):
        return
    at = rng.randrange(1, len(a.body))
    parts = (a.body[:at], a.body[at:])
    body[k : k + 1] = [replace(a, body=p) for p in parts]


def _twice(rng: Random, body: list[Node]) -> None:
    """The macro, in a plain assignment."""
    lines = [n for n in _lines(body) if n.form.endswith(" = {};") and "(" not in n.form and not n.pinned]
    if lines:
        line = rng.choice(lines)
        line.form = line.form.replace("{}", "TWICE({})")


def _lines(body: list[Node]) -> list[Line]:
    out: list[Line] = []
    for node in body:
        match node:
            case Line():
                out.append(node)
            case If():
                out += [*_lines(node.then), *_lines(node.other)]
            case For():
                out += _lines(node.body)
    return out
