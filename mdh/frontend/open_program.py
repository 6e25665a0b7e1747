"""A program with open sizes, made of programs at the ends of their ranges."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from mdh.diagnostics import Diagnostic, Failed, labels_at
from mdh.ir.affine import Affine, from_expr
from mdh.ir.expr import Expr, loads
from mdh.ir.open_size import OpenExtent, OpenSize, corners, open_extent
from mdh.ir.program import Buffer, Dim, Program, Scalar, Stage
from mdh.source import Span

PLACE = "C126"
MOST_VALUE = 2**30
"""The largest open size and extent: with a tile added to it, it is still an `int`."""


def opened(
    largest: Program,
    ends: Mapping[str, Program],
    least: Program,
    opens: Sequence[OpenSize],
    *,
    conditions: bool,
) -> Program:
    """`largest` with its extents as functions of the open sizes.

    ends: by size, the program with this one at its least value and the others at their largest; least: with
    all of them there. conditions: whether some access depends on a condition. Requires that every extent is
    an affine function of the sizes. Raises Failed C126.
    """
    for name, other in (*ends.items(), *((o.name, least) for o in opens)):
        if _form(other) != _form(largest):
            raise Failed(_other_stages(largest, other, name))
    reading = _ExtentReading(ends, opens, conditions)
    stages = tuple(
        replace(stage, dims=tuple(reading.dim(s, d, known) for d, known in enumerate(stage.dims)))
        for s, stage in enumerate(largest.stages)
    )
    size = {o.name: o for o in opens}
    scalars = tuple(replace(x, open=size.get(x.name)) for x in largest.scalars)
    buffers = tuple(reading.buffer(b, known) for b, known in enumerate(largest.buffers))
    out = replace(largest, stages=stages, buffers=buffers, scalars=scalars)
    there = closed(out, {o.name: o.least for o in opens})
    shapes = [[b.shape for b in p.buffers] for p in (there, least)]
    if there.stages != least.stages or shapes[0] != shapes[1]:
        headline = f"an extent of `{largest.name}` does not grow evenly with the open sizes"
        raise Failed(Diagnostic(PLACE, headline, help="bind the sizes"))
    found = [d for stage in out.stages for d in _unproven(out, stage)]
    if found:
        raise Failed(*found)
    return out


def read_at_ends(
    opens: Sequence[OpenSize], read: Callable[[Mapping[str, int]], Program], conditions: Callable[[], bool]
) -> Program:
    """The program at the largest sizes, with what depends on open sizes. read: reads it with other values of
    some sizes. Raises Failed C125, C126, and what reading at the ends of the ranges finds."""
    largest = read({})
    for o in opens:
        if largest.scalar_of.get(o.name) is None:
            headline = f"`{o.name}` cannot stay open: `{largest.name}` has no such parameter"
            raise Failed(Diagnostic("C125", headline, help="bind it", witness=(("define", o.name),)))
    ends = {o.name: _at({o.name: o.least}, read) for o in opens}
    least = _at({o.name: o.least for o in opens}, read)
    return opened(largest, ends, least, opens, conditions=conditions())


def _other_stages(largest: Program, other: Program, name: str) -> Diagnostic:
    """C126: the program is another one where the open size has its least value."""
    hint = f"bind it: -D {name}={largest.sizes[name]}"
    turns = next((x for x in largest.loops if x not in other.loops), None)
    if turns is None:
        headline = f"the stages of `{largest.name}` depend on the open size `{name}`"
        return Diagnostic(PLACE, headline, help=hint, witness=(("define", name),))
    headline = f"the turns of the loop over `{turns.name}` depend on the open size `{name}`"
    words = "what each turn leaves is read in the next ones, so they are launched one after the other"
    return Diagnostic(PLACE, headline, labels_at(turns.span, words), help=hint, witness=(("define", name),))


def _at(sizes: Mapping[str, int], read: Callable[[Mapping[str, int]], Program]) -> Program:
    """The program at other sizes. What is wrong there says where."""
    try:
        return read(sizes)
    except Failed as failed:
        note = "with " + ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise Failed(*(replace(d, notes=(*d.notes, note)) for d in failed.diagnostics)) from failed


@dataclass(frozen=True, slots=True)
class _ExtentReading:
    """The extents of a program at the largest sizes, and those at the ends of the ranges. As of `opened`."""

    ends: Mapping[str, Program]
    opens: Sequence[OpenSize]
    conditions: bool

    def dim(self, s: int, d: int, known: Dim) -> Dim:
        """Dimension d of stage s."""
        there = {name: p.stages[s].dims[d].extent for name, p in self.ends.items()}
        return replace(known, open=self._extent(known.extent, there, known.span))

    def buffer(self, b: int, known: Buffer) -> Buffer:
        shapes = {name: p.buffers[b].shape for name, p in self.ends.items()}
        found = tuple(
            self._extent(n, {name: shape[k] for name, shape in shapes.items()}, known.span)
            for k, n in enumerate(known.shape)
        )
        if not any(found):
            return known
        if known.flat and self.conditions:
            headline = f"how long `{known.name}` is depends on an open size, and on conditions"
            hint = f"declare its extents: {known.name}[N]"
            raise Failed(Diagnostic(PLACE, headline, labels_at(known.span), help=hint))
        return replace(known, open=found, reach=0)

    def _extent(self, value: int, there: Mapping[str, int], span: Span | None) -> OpenExtent | None:
        """The extent whose values at the ends of the ranges are these; None if it is the same at all."""
        factors = {o.name: Fraction(value - there[o.name], o.most - o.least) for o in self.opens}
        if any(c.denominator > 1 for c in factors.values()):
            headline = "an extent does not grow evenly with the open sizes"
            raise Failed(Diagnostic(PLACE, headline, labels_at(span), help="bind the sizes"))
        whole = {name: int(c) for name, c in factors.items()}
        form = Affine.of(whole, value - sum(whole[o.name] * o.most for o in self.opens))
        if not form.terms:
            return None
        if any(c < 0 for _, c in form.terms):
            name = next(n for n, c in form.terms if c < 0)
            headline = f"an extent shrinks as the open size `{name}` grows"
            raise Failed(Diagnostic(PLACE, headline, labels_at(span), help=f"bind `{name}`"))
        if value > MOST_VALUE:
            headline = f"an extent that stays open goes up to {value:,}, more than {MOST_VALUE:,}"
            raise Failed(Diagnostic(PLACE, headline, labels_at(span), help="make the range smaller"))
        return open_extent(form, self.opens)


def _form(program: Program) -> Program:
    """The program without its extents."""
    stages = tuple(replace(s, dims=tuple(replace(d, extent=0) for d in s.dims)) for s in program.stages)
    buffers = tuple(replace(b, shape=(0,) * len(b.shape)) for b in program.buffers)
    scalars = tuple(replace(x, size=None) for x in program.scalars)
    return replace(program, stages=stages, buffers=buffers, scalars=scalars)


def closed(program: Program, sizes: Mapping[str, int]) -> Program:
    """The program at values of its open sizes. Requires that each is in its range. A program without open
    sizes is itself."""
    if not program.opens:
        return program

    def dim(d: Dim) -> Dim:
        return d if d.open is None else replace(d, extent=d.open.at(sizes), open=None)

    def buffer(b: Buffer) -> Buffer:
        shape = tuple(n if o is None else o.at(sizes) for n, o in zip(b.shape, b.open, strict=False))
        return replace(b, shape=shape, open=()) if b.open else b

    return replace(
        program,
        stages=tuple(replace(s, dims=tuple(map(dim, s.dims))) for s in program.stages),
        buffers=tuple(map(buffer, program.buffers)),
        scalars=tuple(
            x if x.open is None else replace(x, size=sizes[x.name], open=None) for x in program.scalars
        ),
        statements=(),
    )


def within(program: Program, ranges: Iterable[OpenSize]) -> Program:
    """The program with narrower ranges of some open sizes, for plans; those of one value are bound. Requires
    that each range lies in that of its size."""
    given = {r.name: r for r in ranges}
    sizes = tuple(given.get(o.name, o) for o in program.opens)
    bound = {o.name: o.least for o in sizes if o.value is not None}
    if len(bound) == len(sizes):
        return closed(program, bound)
    left = {o.name: o for o in sizes if o.value is None}

    def extent(o: OpenExtent) -> OpenExtent | int:
        const = o.form.const + sum(c * bound[n] for n, c in o.form.terms if n in bound)
        terms = {n: c for n, c in o.form.terms if n in left}
        return open_extent(Affine.of(terms, const), left.values()) if terms else const

    def dim(d: Dim) -> Dim:
        known = d.extent if d.open is None else extent(d.open)
        if isinstance(known, int):
            return replace(d, extent=known, open=None)
        return replace(d, extent=known.most, open=known)

    def buffer(b: Buffer) -> Buffer:
        if not b.open:
            return b
        known = [n if o is None else extent(o) for n, o in zip(b.shape, b.open, strict=True)]
        shape = tuple(n if isinstance(n, int) else n.most for n in known)
        opens = tuple(None if isinstance(n, int) else n for n in known)
        return replace(b, shape=shape, open=opens if any(opens) else ())

    def scalar(x: Scalar) -> Scalar:
        if x.open is None:
            return x
        one = left.get(x.name)
        return replace(x, size=bound[x.name] if one is None else one.most, open=one)

    return replace(
        program,
        stages=tuple(replace(s, dims=tuple(map(dim, s.dims))) for s in program.stages),
        buffers=tuple(map(buffer, program.buffers)),
        scalars=tuple(map(scalar, program.scalars)),
        statements=(),
    )


def _unproven(program: Program, stage: Stage) -> Iterator[Diagnostic]:
    """C126 for accesses that only a condition may keep inside of their array, where open sizes matter: they
    are proven at the ends of the ranges only.

    The greatest index and the extent are affine functions of the sizes, so that one is below the other
    everywhere if it is at the corners.
    """
    dims = {d.name: d for d in stage.dims}
    places = {o.span for r in stage.results for o in r.outputs}
    span = next((p for p in places if p is not None), stage.span)
    for buffer, index in _accesses(stage):
        known = program.buffer_of[buffer]
        for k, e in enumerate(index):
            f = from_expr(e)
            extent = known.open[k] if known.open else None
            if f is None or not f.names <= dims.keys():
                if extent is not None:
                    names = frozenset[str]() if f is None else f.names
                    turns = [f"the counter `{x.name}`" for x in program.loops if x.var in names]
                    what = turns[0] if turns else "data"
                    headline = f"{what} indexes `{buffer}` along a dimension that stays open"
                    yield Diagnostic(PLACE, headline, labels_at(span), help="bind the size for this program")
                    return
                continue
            if extent is None and all(dims[name].open is None for name in f.names):
                continue
            for sizes in corners(program.opens):
                box = {
                    n: (0, d.extent - 1 if d.open is None else d.open.at(sizes) - 1) for n, d in dims.items()
                }
                low, high = f.bounds(box)
                size = known.shape[k] if extent is None else extent.at(sizes)
                if low < 0 or high >= size:
                    at = ", ".join(f"{n} = {v}" for n, v in sizes.items())
                    headline = f"`{buffer}` is accessed under a condition along a dimension that stays open"
                    note = f"without the condition, an index is outside of dimension {k + 1} with {at}"
                    yield Diagnostic(
                        PLACE, headline, labels_at(span), (note,), help="bind the size for this program"
                    )
                    return


def _accesses(stage: Stage) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    for e in stage.expressions():
        for x in loads(e):
            yield x.buffer, x.index
    for r in stage.results:
        for o in r.outputs:
            yield o.buffer, o.index
