"""Forms of statements in which an array holds different values at different times."""

from collections.abc import Callable, Mapping

from tests.soundness.pool import Range
from tests.soundness.statements import FORMS, Forms
from tests.soundness.tree import Line, Node, Op


def moved(forms: Forms) -> list[Node]:
    """Elements from their neighbours, in place: from later ones, or by mistake from earlier ones."""
    rng, pool = forms.rng, forms.pool
    a = forms.target(("N",), ("N", "M"), ("N", "N"), ("M",))
    loops, v = forms.nest(list(a.dims), ["i", "j"][: len(a.dims)], whole=True)
    f = rng.choice(loops)
    if pool.sizes[f.size] < 3:
        return forms.map()
    f.top = rng.choice((1, 2))
    f.low = rng.choice((0, 0, 1))
    far = rng.randint(1, f.top) if rng.random() < 0.85 or not f.low else -1
    if rng.random() < 0.2:
        f.step, f.style, far = -1, ">=", -far if f.low else far
    inside = {n: Range(r.size, f.low, f.top) if n == f.var else r for n, r in v.items()}
    at = a.at(list(v))
    near = a.at([f"{n} {'+' if far > 0 else '-'} {abs(far)}" if n == f.var else n for n in v])
    forms.values.written = {a.name: at}
    form = rng.choice(("{0}", "({0} + {1})", "({0} > 0 ? {1} : {0})", "({1} > {0} ? {0} : {1})"))
    line = Line(f"{at} = {{}};", [Op(form, [near, forms.values.value(a.ctype, inside, 1)])])
    return forms.around(loops, forms.guarded([line], inside, 0.15))


def private(forms: Forms) -> list[Node]:
    """A row that each turn of a loop fills anew and reads."""
    rng, pool = forms.rng, forms.pool
    row = forms.target(("M",), ("K",), ("M",))
    size = row.dims[0]
    if size not in pool.sizes:
        return forms.map()
    y = forms.target(("N",))
    if y is row:
        return forms.map()
    outer, v = forms.nest(["N"], ["i"], whole=True)
    filled, w = forms.nest([size], ["j"], whole=rng.random() < 0.8)
    used, x = forms.nest([size], ["k"], whole=rng.random() < 0.8)
    forms.values.written = {row.name: "", y.name: ""}
    first = Line(f"{row.at(['j'])} = {{}};", [forms.values.value(row.ctype, {**v, **w}, 1)])
    read = row.at([rng.choice(("k", "k", f"{size} - 1 - k"))])
    value = Op(rng.choice(("{}", "({} + {})")), [read, forms.values.value(y.ctype, {**v, **x}, 1)])
    if row.is_float and not y.is_float:
        value = Op("({} > 0)", [read])
    start = [Line(f"{y.at(['i'])} = 0;")] if rng.random() < 0.7 else []
    update = Line(f"{y.at(['i'])} += {{}};", [value])
    body = [*forms.around(filled, [first]), *start, *forms.around(used, [update])]
    return forms.around(outer, body)


MORE_FORMS: Mapping[str, tuple[int, Callable[[Forms], list[Node]]]] = {
    **FORMS,
    "moved": (5, moved),
    "private": (5, private),
}
