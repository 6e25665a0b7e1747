"""Forms as people write dynamic programs, shortest paths and clustering: comparisons with other elements of
the array that is written, diagonals, writes that conditions keep inside, arrays of an iteration of its own,
indices that the program computes."""

from collections.abc import Callable, Mapping

from tests.soundness.pool import Array, Range
from tests.soundness.statements import Forms
from tests.soundness.tree import Expr, For, If, Line, Node, Op
from tests.soundness.turned import TURNED_FORMS

OPERATORS = ("<", "<", ">", ">", "<=", ">=")


def shortest(forms: Forms) -> list[Node]:
    """Floyd and Warshall's paths, with or without what lies on them."""
    rng, pool = forms.rng, forms.pool
    square = [a for a in pool.writable("N", "N") if not a.flat]
    if not square or pool.sizes["N"] < 2:
        return forms.map()
    d = rng.choice(square)
    path = [a for a in square if a is not d] + pool.writable("N")
    k = rng.choice(("k", "k", "k", "N - 1 - k", "0"))
    joined = rng.choice(("{}[i][{}] + {}[{}][j]", "{}[i][{}] + {}[{}][j]", "{}[i][{}] - {}[{}][j]"))
    through = joined.format(d.name, k, d.name, k)
    if rng.random() < 0.2:
        through = f"({through} > 2 ? {through} : 2)"
    if not d.is_float:
        through = f"(({d.ctype})({through}))" if rng.random() < 0.8 else through
    payload: list[Node] = []
    if path and rng.random() < 0.6:
        payload = [_noted(forms, rng.choice(path), d, k)]
    body = _compared(forms, f"{d.name}[i][j]", through, payload, d)
    i, j = For("i", "N", []), For("j", "N", body)
    if rng.random() < 0.15:
        i.least = rng.choice(("k", "k + 1"))
    inner = [i, j] if rng.random() < 0.8 else [j, i]
    k_loop = For("k", "N", [], low=rng.choice((0, 0, 0, 1)), top=1 if i.least == "k + 1" else 0)
    inner[1].body = body
    if inner[0] is j:
        j.body, i.body = [i], body
    return forms.around([k_loop, *inner], body)


def _noted(forms: Forms, b: Array, d: Array, k: str) -> Node:
    rng = forms.rng
    mine = f"{b.name}[i][j]" if len(b.dims) == 2 else b.at([rng.choice(("i", "j"))])
    other = f"{b.name}[i][{k}]" if len(b.dims) == 2 else b.at([rng.choice(("j", "i", k))])
    value = rng.choice((k if k != "0" else "3", other, other, "i", f"{mine} + 1" if b.is_float else "j"))
    return Line(f"{mine} = {value};")


def _compared(forms: Forms, me: str, value: str, payload: list[Node], a: Array) -> list[Node]:
    """`if (value > me) { me = value; … }`, perhaps through a local, in either order of its assignments."""
    rng = forms.rng
    head: list[Node] = []
    if rng.random() < 0.35:
        kind = a.ctype if a.ctype != "_Float16" else "float"
        head, value = [Line(f"{kind} t = {value};")], "t"
    op = rng.choice(OPERATORS)
    cond = f"{value} {op} {me}"
    if rng.random() < 0.3:
        cond = f"{me} {op.translate(str.maketrans('<>', '><'))} {value}"
    store = Line(f"{me} = {value};")
    then: list[Node] = [store, *payload] if rng.random() < 0.7 else [*payload, store]
    return [*head, If(cond, then)]


def steps(forms: Forms) -> list[Node]:
    """Viterbi's steps: each element of a row is the best over those of the row before it."""
    rng, pool = forms.rng, forms.pool
    found = [a for a in (*pool.writable("N", "M"), *pool.writable("N", "N")) if not a.flat]
    if not found or pool.sizes["N"] < 2:
        return forms.map()
    a = rng.choice(found)
    size = a.dims[1]
    others = [b for b in found if b is not a and b.dims == a.dims]
    weights = [b for b in pool.data() if b.dims == (size, size) and b is not a and b.is_float == a.is_float]
    weight = rng.choice(weights).at(rng.choice((["p1", "j"], ["j", "p1"]))) if weights else "(p1 + 2 * j) % 3"
    forms.values.written = {a.name: ""}
    value = f"{a.name}[i - 1][p1] + {weight}"
    if not a.is_float:
        value = f"(({a.ctype})({value}))"
    payload: list[Node] = []
    if others and rng.random() < 0.6:
        b = rng.choice(others)
        payload = [Line(f"{b.name}[i][j] = {rng.choice(('p1', 'p1', f'{b.name}[i - 1][p1]'))};")]
    body = _compared(forms, f"{a.name}[i][j]", value, payload, a)
    inner = For("p1", size, body, low=rng.choice((0, 0, 1)) if pool.sizes[size] > 1 else 0)
    start: list[Node] = [Line(f"{a.name}[i][j] = {rng.choice(('-100', '100', '0', f'{a.name}[i - 1][j]'))};")]
    return [For("i", "N", [For("j", size, [*start[: rng.choice((0, 1, 1))], inner])], low=1)]


def diagonals(forms: Forms) -> list[Node]:
    """Chains of products, by the length of the chain: each element from those below and left of it."""
    rng, pool = forms.rng, forms.pool
    square = [a for a in pool.writable("N", "N") if not a.flat]
    if not square or pool.sizes["N"] < 2:
        return forms.map()
    m = rng.choice(square)
    end = "i + l"
    head: list[Node] = []
    if rng.random() < 0.5:
        head, end = [Line("int e0 = i + l;")], "e0"
    if rng.random() < 0.3:
        form = rng.choice(("{m}[i][{e} - 1] - {m}[i + 1][{e}]", "{m}[i + 1][{e}] + {m}[i][{e} - 1]",
                           "{m}[i + 1][{e} - 1] > 0 ? {m}[i][{e} - 1] : 1"))  # fmt: skip
        line = Line(f"{m.name}[i][{end}] = {form.format(m=m.name, e=end)};")
        inner = For("i", "N", [*head, line], style="<", most="N - l - 1")
        return [For("l", "N", [inner], low=1)]
    value = f"{m.name}[i][k] + {m.name}[k + 1][{end}]"
    x = [a for a in pool.data() if a.dims == ("N",) and a.is_float == m.is_float]
    if x and rng.random() < 0.6:
        value += f" + {rng.choice(x).at(['k'])}"
    if not m.is_float:
        value = f"(({m.ctype})({value}))"
    others = [b for b in square if b is not m]
    payload = [Line(f"{rng.choice(others).name}[i][{end}] = k;")] if others and rng.random() < 0.5 else []
    best = For("k", "N", _compared(forms, f"{m.name}[i][{end}]", value, list(payload), m), style="<",
               least="i", most="i + l - 1")  # fmt: skip
    start: list[Node] = [Line(f"{m.name}[i][{end}] = {rng.choice(('100', '-100', '0'))};")]
    inner = For("i", "N", [*head, *start[: rng.choice((0, 1, 1))], best], style="<", most="N - l - 1")
    return [For("l", "N", [inner], low=1)]


def inside(forms: Forms) -> list[Node]:
    """Writes that conditions of counters keep inside of the array."""
    rng, pool = forms.rng, forms.pool
    y = forms.target(("N",), ("N",), ("M",), ("N", "M"), ("N", "N"))
    if any(d not in pool.sizes for d in y.dims) or y.flat:
        return forms.map()
    size = y.dims[-1]
    far = rng.choice(("i - j", "i - j", "i + j", "i + 1", "i - 2", "2 * i", "i + j - 1"))
    cond = f"{far} >= 0 && {far} < {size}"
    if rng.random() < 0.3:
        cond = rng.choice((f"j <= i && i - j < {size}", f"!(j > i) && i - j < {size}"))
        far = "i - j"
    plain = "j" not in far
    sizes = [size] if plain else [size, rng.choice(("K", size, "M"))]
    loops, v = forms.nest(sizes, ["i", "j"][: len(sizes)], whole=rng.random() < 0.6)
    for f in loops:
        f.ctype = "int"
    index = [far]
    if len(y.dims) == 2:
        more, w = forms.nest([y.dims[0]], ["k"], whole=True)
        loops, v, index = [*more, *loops], {**w, **v}, ["k", far]
    at = y.at(index)
    forms.values.written = {y.name: at if plain else ""}
    op = "=" if plain and rng.random() < 0.7 else rng.choice(("+=", "+=", "max", "="))
    value: Expr = forms.values.value(y.ctype, v, 1)
    line: Node = Line(f"{at} {op} {{}};", [value])
    if op == "max":
        line = If(Op(f"({{}} > {at})", [value]), [Line(f"{at} = {{}};", [value])])
    if op == "=" and not plain:
        cond += f" && j == {rng.choice(('0', '1', 'i'))}"
    if rng.random() < 0.25:
        cond += " && ({})"
        return forms.around(loops, [If(Op(cond, [forms.values.condition(v, 1)]), [line], guard=True)])
    return forms.around(loops, [If(cond, [line], guard=True)])


def own_rows(forms: Forms) -> list[Node]:
    """An array of each iteration's own: filled, updated, read."""
    rng, pool = forms.rng, forms.pool
    y = forms.target(("N",), ("N",), ("M",), ("N", "M"))
    if any(d not in pool.sizes for d in y.dims):
        return forms.map()
    kind = pool.main if pool.main != "_Float16" else "float"
    size = rng.choice(("K", "3", "4"))
    outer, v = forms.nest(list(y.dims), ["i", "j"][: len(y.dims)])
    count = f"{size}" if size == "K" else size
    name = rng.choice(("t", "t", "row"))
    floats = kind in ("float", "double")
    begun = rng.choice(("{0}", "{1}", "loop", "loop", "loop", "partly"))
    at = y.at(list(v))
    forms.values.written = {y.name: at}
    value = forms.values.value(kind, v, 1)
    body: list[Node] = []
    if begun in ("loop", "partly"):
        body.append(Line(f"{kind} {name}[{count}];"))
        low = 1 if begun == "partly" and (size != "K" or pool.sizes["K"] > 1) else 0
        fill = Line(f"{name}[k] = {{}};", [value])
        body.append(_counted("k", size, [fill], low))
        if low:
            body.append(Line(f"{name}[0] = {{}};", [forms.values.value(kind, v, 1)]))
    elif begun == "{0}":
        body.append(Line(f"{kind} {name}[{count}] = {{{{0}}}};"))
    else:
        body.append(Line(f"{kind} {name}[{count}] = {{{{{{}}}}}};", [value]))
    if rng.random() < 0.6:
        change = rng.choice((f"{name}[k] += k;", f"{name}[0] = {name}[k] - {name}[0];", f"{name}[k] = {at};"))
        if change.endswith(f"{at};") and floats != y.is_float:
            change = f"{name}[k] += 1;"
        body.append(_counted("k", size, [Line(change)], 0))
    if not floats and rng.random() < 0.4 and size in ("3", "4"):
        mask = int(size) - 1 if size == "4" else 1
        body.append(_counted("k", "M", [Line(f"{name}[(q[k]) & {mask}] += 1;")], 0))
    read = f"{name}[k]"
    wrapped: Expr = read if y.is_float or not floats else f"({read} > 0)"
    use = rng.choice(("sum", "sum", "one"))
    if use == "one":
        one = f"{name}[0]" if y.is_float or not floats else f"({name}[0] > 0)"
        body.append(Line(f"{at} = {{}};", [one]))
    else:
        body.append(_counted("k", size, [Line(f"{at} += {{}};", [wrapped])], 0))
    return forms.around(outer, forms.guarded(body, v, 0.1))


def _counted(var: str, size: str, body: list[Node], low: int) -> Node:
    """A loop over a size of the pool, or over a number."""
    if size in ("3", "4"):
        return For(var, "N", body, low=low, style="<", most=f"{int(size) - 1}")
    # all elements get a value, whatever other loops around are made of
    return For(var, size, body, low=low, least=str(low))


def clusters(forms: Forms) -> list[Node]:
    """Labels that the program computes choose which sums take part."""
    rng, pool = forms.rng, forms.pool
    label = [a for a in pool.writable("N") if not a.is_float]
    sums = [a for a in pool.writable("K") if a not in label]
    if not label or not sums:
        return forms.map()
    a, total = rng.choice(label), rng.choice(sums)
    x = rng.choice([b for b in pool.data() if b.dims == ("N",) and b is not a] or [a])
    forms.values.written = {a.name: "", total.name: ""}
    centre = total.at(["k"])
    far = f"{x.at(['i'])} - {centre}"
    far = f"(({far}) > 0 ? ({far}) : -({far}))"
    kind = "double" if x.is_float or total.is_float else "int64_t"
    at = a.at(["i"])
    nearest: list[Node] = [Line(f"{kind} t = 1000;"), Line("int at = 0;")]
    chosen = If("d0 < t", [Line("t = d0;"), Line("at = k;")])
    nearest += [For("k", "K", [Line(f"{kind} d0 = {far};"), chosen]), Line(f"{at} = at;")]
    if rng.random() < 0.3:
        nearest = [Line(f"{at} = (i * {rng.choice((1, 3))} + {rng.choice(('turn', 'turn', '1'))}) % K;")]
    cleared = [For("k", "K", [Line(f"{centre} = {rng.choice(('0', '0', '1'))};")])]
    value = x.at(["i"]) if total.is_float or not x.is_float else "1"
    update = Line(f"{total.at([f'{at}'])} += {value};")
    summed: list[Node] = [For("i", "N", [update])]
    if rng.random() < 0.2:
        summed = [For("k", "K", [For("i", "N", [If(f"{at} == k", [Line(f"{centre} += {value};")])])])]
    parts: list[Node] = [For("i", "N", nearest), *cleared[: rng.choice((0, 1, 1))], *summed]
    if rng.random() < 0.4:
        parts.append(For("k", "K", [Line(f"{centre} = {centre} / 2;")]))
    return [For("turn", rng.choice(("K", "M")), parts)]


def first_turn(forms: Forms) -> list[Node]:
    """A step that is another one in the first turn, or at the first element."""
    rng = forms.rng
    x = forms.target(("N",), ("N",), ("N", "M"))
    if any(d not in forms.pool.sizes for d in x.dims):
        return forms.map()
    loops, v = forms.nest(list(x.dims), ["i", "j"][: len(x.dims)], whole=True)
    at = x.at(list(v))
    forms.values.written = {x.name: at}
    turns = {**v, "l": Range("K")}
    begun, later = (forms.values.value(x.ctype, w, 1) for w in (v, turns))
    step = Op(f"(l == 0 ? {{}} : {at} {rng.choice('+-')} {{}})", [begun, later])
    cond = rng.choice(("l == 0 || i > 0", "i > 0 || l < 1", "!(i == 0 && l != 0)", "l == 0 || i >= l", ""))
    line: Node = Line(f"{at} = {{}};", [step])
    body = [If(cond, [line])] if cond else [line]
    return [For("l", "K", forms.around(loops, body))]


def filled_up(forms: Forms) -> list[Node]:
    """A knapsack: each element from others of its array, upwards or downwards."""
    rng, pool = forms.rng, forms.pool
    x = forms.target(("N",))
    if x.dims != ("N",) or pool.sizes["N"] < 3:
        return forms.map()
    by = rng.choice(("1", "2", "(j + 1)", "p[j]", "p[j]"))
    value = f"{x.at([f'i - {by}'])} + {rng.choice(('1', 'j', '2'))}"
    if not x.is_float:
        value = f"(({x.ctype})({value}))"
    body = _compared(forms, x.at(["i"]), value, [], x)
    downwards = rng.random() < 0.6
    i = For("i", "N", [If(f"{by} <= i", body, guard=True)])
    if downwards:
        i.step, i.style = -1, ">="
    j = For("j", "N" if by == "p[j]" else "K", [])
    return forms.around([j, i] if rng.random() < 0.75 else [i, j], i.body)


NATURAL_FORMS: Mapping[str, tuple[int, Callable[[Forms], list[Node]]]] = {
    **{name: (max(1, often // 3), draw) for name, (often, draw) in TURNED_FORMS.items()},
    "shortest": (12, shortest),
    "steps": (10, steps),
    "diagonals": (12, diagonals),
    "inside": (14, inside),
    "own rows": (14, own_rows),
    "clusters": (10, clusters),
    "first turn": (8, first_turn),
    "filled up": (8, filled_up),
}
