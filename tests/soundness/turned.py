"""Forms that carry values along a loop in a way that no stage can: recurrences, factorisations, elimination,
scalars that change from turn to turn, time steps that fill rows."""

from collections.abc import Callable, Mapping

from tests.soundness.pool import Array, Range, Vars
from tests.soundness.renamed import MORE_FORMS
from tests.soundness.statements import Forms
from tests.soundness.tree import Expr, For, Line, Node, Op


def recurrence(forms: Forms) -> list[Node]:
    """Each element from those before it or behind it, along one loop of several; sometimes through locals,
    and from element 0 on."""
    rng, pool = forms.rng, forms.pool
    a = forms.target(("N", "M"), ("N", "N"))
    names = ["i", "j"][: len(a.dims)]
    if pool.sizes["N"] < 3:
        return forms.map()
    loops, v = forms.nest(list(a.dims), names, whole=True)
    f = rng.choice(loops)
    far = rng.choice((1, 1, 1, 2)) if pool.sizes[f.size] > 2 else 1
    if pool.sizes[f.size] <= far:
        return forms.map()
    down = rng.random() < 0.3
    f.low, f.top = (0, far) if down else (far, 0)
    if down:
        f.step, f.style = -1, rng.choice((">=", ">"))
    inside = {n: Range(r.size, f.low, f.top) if n == f.var else r for n, r in v.items()}
    sign = "+" if down else "-"
    before = [a.at([f"{n} {sign} {d}" if n == f.var else n for n in v]) for d in range(1, far + 1)]
    at = a.at(list(v))
    forms.values.written = {a.name: at}
    value = forms.values.value(a.ctype, inside, 1)
    lines: list[Node] = [Line(f"{at} = {{}};", [_joined(forms, a, [*before, value])])]
    if rng.random() < 0.5:
        rng.shuffle(loops)
    if rng.random() < 0.25 and len(loops) == 2:
        first = forms.target(("N",), ("M",))
        if first is not a and first.dims == (loops[0].size,):
            begin = Line(f"{first.at([loops[0].var])} = {{}};", [_number(forms, first)])
            loops[1].body = forms.guarded(lines, inside, 0.15)
            loops[0].body = [begin, loops[1]] if rng.random() < 0.5 else [loops[1], begin]
            return [loops[0]]
    return forms.around(loops, forms.guarded(lines, inside, 0.2))


def through_locals(forms: Forms) -> list[Node]:
    """A filter along one loop inside of another one: locals keep the last values."""
    rng = forms.rng
    a = forms.target(("N", "M"), ("N", "N"), ("N", "M"))
    if len(a.dims) != 2:
        return forms.map()
    outer, inner = forms.nest(list(a.dims), ["i", "j"], whole=True)
    if rng.random() < 0.4:
        outer.reverse()
    f = outer[1]
    if rng.random() < 0.4:
        f.step, f.style = -1, ">="
    kind = forms.local_type()
    at = a.at(["i", "j"])
    forms.values.written = {a.name: at}
    begin: list[Node] = [Line(f"{kind} p1 = {rng.choice((0, 1))}, p2 = 0;")]
    value = forms.values.value(a.ctype, inner, 1)
    forms.values.locals_ = {"p1": kind, "p2": kind}
    own = kind in ("float", "double") or not a.is_float
    before: Expr = "p1" if a.is_float or not own else "1"
    if kind in ("float", "double") and not a.is_float:
        before = Op("({} > 0)", ["p1"])
    store = Line(f"{at} = {{}};", [Op("({} - {})", [value, before])])
    stored = at if kind in ("float", "double") or not a.is_float else f"({at} > 0)"
    keep: list[Node] = [Line("p2 = p1;"), Line(f"p1 = {stored} - p2 / 2;")]
    if rng.random() < 0.3:
        keep.reverse()
    forms.values.locals_ = {}
    return forms.around(outer[:1], [*begin, *forms.around(outer[1:], [store, *keep])])


def factorisation(forms: Forms) -> list[Node]:
    """Sums over what the same array has left of the row and of the rows before, in C's left-looking order."""
    rng, pool = forms.rng, forms.pool
    square = [a for a in pool.writable("N", "N") if not a.flat]
    if not square or pool.sizes["N"] < 2:
        return recurrence(forms)
    a = rng.choice(square)
    i, j, k = "i", "j", "k"
    op = rng.choice(("-=", "-=", "+="))
    left, right = rng.choice(((f"[{i}][{k}]", f"[{k}][{j}]"), (f"[{i}][{k}]", f"[{j}][{k}]")))
    term = f"{a.name}{left} * {a.name}{right}" if a.is_float else f"({a.name}{left} & {a.name}{right})"
    scale = "2" if a.is_float else "3"
    update = Line(f"{a.name}[i][j] {op} {term};")
    rows = _below(k, "j", "N", [update])
    finish: list[Node] = []
    if rng.random() < 0.8:
        by = f"({a.name}[j][j] > 1 ? {scale} : 1)"
        finish = [Line(f"{a.name}[i][j] = {a.name}[i][j] {'/' if rng.random() < 0.5 else '-'} {by};")]
    body: list[Node] = [_below(j, "i", "N", [rows, *finish])]
    if rng.random() < 0.6:
        second = _below(k, "i", "N", [Line(f"{a.name}[i][j] {op} {term};")])
        body.append(_from(j, "i", "N", [second]))
    elif rng.random() < 0.5:
        body.append(Line(f"{a.name}[i][i] = {a.name}[i][i] > 0 ? 1 : {{}};", [_number(forms, a)]))
    return [For(i, "N", body)]


def solve(forms: Forms) -> list[Node]:
    """Substitution: a sum over elements that earlier turns have made, forwards or backwards."""
    rng, pool = forms.rng, forms.pool
    x = forms.target(("N",))
    square = [a for a in pool.data() if a.dims == ("N", "N") and a is not x and a.is_float == x.is_float]
    if x.dims != ("N",) or pool.sizes["N"] < 2:
        return forms.map()
    weight = rng.choice(square).at(["i", "j"]) if square and rng.random() < 0.8 else "(i + 2 * j) % 3"
    forms.values.written = {x.name: x.at(["i"])}
    outer = For("i", "N", [])
    start: list[Node] = [Line(f"{x.at(['i'])} = {{}};", [_number(forms, x)])] if rng.random() < 0.5 else []
    term = f"{weight} * {x.at(['j'])}" if x.is_float else f"({weight} & {x.at(['j'])})"
    if rng.random() < 0.4:
        outer.step, outer.style = -1, ">="
        inner = _behind("j", "i", "N", [])
    else:
        inner = _below("j", "i", "N", [])
    sums = rng.random()
    if sums < 0.6:
        inner.body = [Line(f"{x.at(['i'])} -= {term};")]
        end: list[Node] = [Line(f"{x.at(['i'])} = {x.at(['i'])} - {{}};", [_number(forms, x)])]
        outer.body = [*start, inner, *(end if rng.random() < 0.7 else [])]
        return [outer]
    kind = x.ctype if x.ctype != "_Float16" else "float"
    if sums < 0.8:
        inner.body = [Line(f"w += {term};")]
        outer.body = [Line(f"{kind} w = {{}};", [_number(forms, x)]), inner, Line(f"{x.at(['i'])} = w;")]
    else:
        inner.body = [Line(f"if ({{0}} > {x.at(['i'])}) {x.at(['i'])} = {{0}};", [f"({kind})({term})"])]
        outer.body = [*start, inner]
    return [outer]


def elimination(forms: Forms) -> list[Node]:
    """Each turn changes an array by its own row and column."""
    rng, pool = forms.rng, forms.pool
    square = [a for a in pool.writable("N", "N") if not a.flat]
    if not square:
        return recurrence(forms)
    a = rng.choice(square).name
    whole = rng.random() < 0.6
    low = ("", "") if whole else ("k + 1", rng.choice(("k + 1", "k", "")))
    i, j = For("i", "N", [], least=low[0]), For("j", "N", [], least=low[1])
    if low[0]:
        i.top = 0
    form = rng.choice((
        "{a}[i][j] = {a}[i][j] < {a}[i][k] + {a}[k][j] ? {a}[i][j] : {a}[i][k] + {a}[k][j];",
        "{a}[i][j] = {a}[i][j] > 0 || ({a}[i][k] > 0 && {a}[k][j] > 0);",
        "{a}[i][j] -= {a}[i][k] + {a}[k][j];",
        "{a}[i][j] = {a}[k][j] - {a}[i][j];",
    ))  # fmt: skip
    i.body, j.body = [j], [Line(form.format(a=a))]
    first = For("k", "N", [i], top=0 if whole else 1)
    if rng.random() < 0.2:
        first.step, first.style = -1, ">="
    return [first] if pool.sizes["N"] > 1 else forms.map()


def rows(forms: Forms) -> list[Node]:
    """A row from the row before it, or an element and what all others are made of it."""
    rng, pool = forms.rng, forms.pool
    a = forms.target(("N", "M"), ("N", "N"), ("N", "M"))
    if len(a.dims) != 2 or pool.sizes["N"] < 2:
        return recurrence(forms)
    inner, v = forms.whole(a.dims[1], "j")
    inside = {"i": Range("N", 1), "j": v}
    forms.values.written = {a.name: a.at(["i", "j"])}
    old = a.at(["i - 1", rng.choice(("j", f"{a.dims[1]} - 1 - j", "j"))])
    more = [a.at(["i - 1", "0"])] if rng.random() < 0.3 else []
    value = forms.values.value(a.ctype, inside, 1)
    line = Line(f"{a.at(['i', 'j'])} = {{}};", [_joined(forms, a, [old, *more, value])])
    inner.body = forms.guarded([line], inside, 0.15)
    return [For("i", "N", [inner], low=1)]


def state(forms: Forms) -> list[Node]:
    """A number that each turn makes of the last one, and of an array that it changes."""
    rng, pool = forms.rng, forms.pool
    x = forms.target(("N",))
    if x.dims != ("N",) or pool.sizes["N"] < 2:
        return forms.map()
    kind = x.ctype if x.ctype != "_Float16" else "float"
    forms.running += 1
    name = "a" if forms.running == 1 else f"a{forms.running}"
    forms.values.written = {x.name: ""}
    begin = Line(f"{kind} {name} = {rng.choice((1, 2))};")
    k = rng.choice(("k", "k", "N - 1 - k", "0"))
    change = Line(f"{name} = {x.at([k])} - {name};")
    total = For("i", "N", [Line(f"{name} += {x.at(['i'])};")])
    least = rng.choice(("", "", "k"))
    spread = For("i", "N", [Line(f"{x.at(['i'])} = {x.at(['i'])} - {name};")], least=least)
    last = Line(f"{x.at([rng.choice(('k', 'k', 'N - 1 - k'))])} = {name};")
    parts: list[Node] = [change, total, spread, last]
    if rng.random() < 0.5:
        parts = rng.sample(parts, 3)
    return [begin, For("k", "N", parts, low=rng.choice((0, 1)))]


def _joined(forms: Forms, a: Array, args: list[Expr]) -> Expr:
    """A value of an array's own elements and of others that is no known operator, or is one."""
    rng = forms.rng
    out = args[0]
    for other in args[1:]:
        calm = "({} - {})" if rng.random() < 0.5 else "({0} > {1} ? {0} - 1 : {1})"
        out = Op(calm if a.is_float else rng.choice((calm, "({} ^ {})", "({} - {})")), [out, other])
    return out


def _number(forms: Forms, a: Array) -> Expr:
    v: Vars = {}
    return forms.values.read(v, floats=a.is_float, const=True) or "1" if forms.rng.random() < 0.3 else "2"


def _below(var: str, end: str, size: str, body: list[Node]) -> For:
    """`for (var = 0; var < end; var++)`."""
    return For(var, size, body, style="<", most=f"{end} - 1")


def _from(var: str, start: str, size: str, body: list[Node]) -> For:
    return For(var, size, body, least=start)


def _behind(var: str, start: str, size: str, body: list[Node]) -> For:
    return For(var, size, body, least=f"{start} + 1")


TURNED_FORMS: Mapping[str, tuple[int, Callable[[Forms], list[Node]]]] = {
    **MORE_FORMS,
    "recurrence": (14, recurrence),
    "through locals": (10, through_locals),
    "factorisation": (12, factorisation),
    "solve": (10, solve),
    "elimination": (10, elimination),
    "rows": (10, rows),
    "state": (10, state),
}
