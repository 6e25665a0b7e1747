"""K170, K172, K173: a tensor-core step is the last one, and computes a product-sum in whole atoms, whose
factors lie in shared memory so that a warp can read them."""

from collections.abc import Iterator
from itertools import pairwise

from mdh.checker.atom_reads import AtomRead, Reason, Way, copies_of, masked, way_of
from mdh.checker.atoms import Axes, axes_of, by_group, names_in, ordered_reads
from mdh.checker.group_factors import GroupFactor, group_factor
from mdh.checker.register_factors import misplaced
from mdh.checker.resolve import has_layer
from mdh.checker.subject import Subject, listed
from mdh.decompose.accesses import affine_index
from mdh.diagnostics import Diagnostic
from mdh.hardware import Layer, Space
from mdh.ir.affine import Affine
from mdh.ir.expr import Load
from mdh.ir.layout import Axis, Guard, Level, Levels
from mdh.ir.plan import AtomDim, Product
from mdh.ir.product_sum import summed_reads
from mdh.ir.program import DimKind
from mdh.ir.tile import Copy
from mdh.schedule.model import Unit

CODE, OPERAND, EDGE = "K170", "K172", "K173"
LANES = (Layer.THR, Layer.VEC)
"""Layers whose units are the atom's own."""


def check_mma(subject: Subject) -> Iterator[Diagnostic]:
    """K170. The MMA step is last, in the text and in code order; m and n split cc dims, k a pw dim; atoms
    divide; the stage sums products of a read along m and k and one along k and n; lanes are the atom's."""
    steps = subject.draft.splitting
    for s, step in enumerate(steps):
        if not has_layer(step, Layer.MMA):
            continue
        last = s == len(steps) - 1
        if not last or subject.plan.steps[s].label < max(p.label for p in subject.plan.steps[: len(steps)]):
            place = f"step {s + 1} of {len(steps)}" if not last else "a step whose label is not the highest"
            headline = f"MMA stands in {place}; it is always the last"
            yield Diagnostic(
                CODE, headline, subject.at_step(s), help="put it last: nothing can split an atom"
            )
        yield from _splits(subject, s)
        yield from _units(subject, s)
        yield from _computes(subject, s)


def _splits(subject: Subject, s: int) -> Iterator[Diagnostic]:
    step = subject.draft.splitting[s]
    units = [c.value for c in step.cores if isinstance(c.value, Unit) and c.value.layer == Layer.MMA]
    grouped = by_group(subject.draft)
    for d, core in enumerate(step.cores):
        split, dim = subject.plan.steps[s].splits[d], subject.stage.dims[d]
        if not isinstance(core.value, Unit) or core.value.layer != Layer.MMA:
            if split.tile > 1:
                headline = f"an atom has one element along `{dim.name}`, the step's tile has {split.tile}"
                said = "write 1 here; a step outside takes the loop"
                yield Diagnostic(CODE, headline, subject.at_tile(s, d), help=said)
            elif split.parts > 1 and split.layer is None and {u.axis for u in units} == set("mnk"):
                headline = f"the MMA step loops over {split.parts} parts of `{dim.name}`"
                said = f"a step outside that takes the loop: a tile of 1 along `{dim.name}`"
                yield Diagnostic(CODE, headline, subject.at_tile(s, d), help=said)
            continue
        wanted = DimKind.PW if core.value.axis == "k" else DimKind.CC
        if dim.kind is not wanted:
            kinds = ("not reduced", "reduced")
            is_, needed = kinds if wanted is DimKind.PW else kinds[::-1]
            headline = f"MMA.{core.value.axis} takes `{dim.name}`, which is {is_}"
            said = f"MMA.{core.value.axis} takes a dimension that is {needed}"
            yield Diagnostic(CODE, headline, subject.at_core(s, d), help=said)
        if not split.exact and (grouped or core.value.axis != "k"):
            whose = "atom" if [u.axis for u in units].count(core.value.axis) == 1 else "step"
            headline = (
                f"the {whose}'s {split.tile} does not divide the {split.parent} elements of `{dim.name}`"
            )
            yield Diagnostic(
                CODE, headline, subject.at_tile(s, d), help="a tile outside that the atom divides"
            )


def _units(subject: Subject, s: int) -> Iterator[Diagnostic]:
    grouped = by_group(subject.draft)
    for i, step in enumerate(subject.draft.splitting):
        for d, core in enumerate(step.cores):
            if isinstance(core.value, Unit) and core.value.layer in LANES:
                issuer, layer = ("warp group", Layer.WGP) if grouped else ("warp", Layer.WRP)
                headline = (
                    f"{core.value.layer} splits `{subject.dim(d)}`, but a {issuer} issues atoms as a whole"
                )
                labels = subject.at_core(i, d) + subject.at_step(s, "its lanes hold the atom's elements")
                yield Diagnostic(CODE, headline, labels, help=f"split over {layer}, or sequentially")
            elif isinstance(core.value, Unit) and core.value.layer is Layer.WRP and grouped:
                headline = f"WRP splits `{subject.dim(d)}`, but a warp group issues these atoms as a whole"
                labels = subject.at_core(i, d) + subject.at_step(s, "its warps hold the atom's elements")
                yield Diagnostic(CODE, headline, labels, help="split over WGP, or sequentially")


def _computes(subject: Subject, s: int) -> Iterator[Diagnostic]:
    step, stage = subject.draft.splitting[s], subject.stage
    reads, axes = summed_reads(stage), axes_of(step)
    if isinstance(reads, str):
        headline = f"stage `{stage.name}` has no atoms: {reads}"
        yield Diagnostic(CODE, headline, subject.at_step(s), help="use THR and a register tile")
    elif missing := [x for x in "mnk" if x not in axes]:
        headline = f"the step leaves out {listed(f'MMA.{x}' for x in missing)}"
        said = "an atom multiplies along m, n and k; a tile outside may be as small as the atom"
        yield Diagnostic(CODE, headline, subject.at_step(s), help=said)
    elif all(subject.reduces(d) == (x == "k") for x in "mnk" for d in axes[x]) and not ordered_reads(
        stage, axes, reads[:2]
    ):
        names = {x: [stage.dims[d].name for d in dims] for x, dims in axes.items()}
        one, other = listed((*names["m"], *names["k"])), listed((*names["k"], *names["n"]))
        headline = f"no factor is read along {one} alone while the other is along {other}"
        yield Diagnostic(CODE, headline, subject.at_step(s), help=_shared_out(subject, axes, reads[:2]))


def _shared_out(subject: Subject, axes: Axes, reads: tuple[Load, Load]) -> str:
    """What is legal for the dimensions that the step has on its axes."""
    stage = subject.stage
    if all(len(dims) == 1 for dims in axes.values()):
        return "use THR and a register tile"
    along = [{d for d, dim in enumerate(stage.dims) if dim.name in names_in(read)} for read in reads]
    kept = [d for d in range(len(stage.dims)) if not subject.reduces(d)]
    sides = [[stage.dims[d].name for d in kept if d in along[x] and d not in along[1 - x]] for x in (0, 1)]
    both = [dim.name for d, dim in enumerate(stage.dims) if subject.reduces(d) and d in along[0] & along[1]]
    if not (all(sides) and both):
        return "use THR and a register tile"
    one, other = map(listed, sides)
    said = f"MMA.m takes dimensions of one factor alone, MMA.n of the other: {one}; {other}"
    return f"{said}. MMA.k takes those of both that are reduced: {listed(both)}"


def check_factors(subject: Subject) -> Iterator[Diagnostic]:
    """K172. Each factor lies in SM where the atoms read it, along m, k and n without holes; 8- and 16-bit
    ones in rows that ldmatrix can read: of whole 16 bytes, along k, or if 16-bit along m or n. Results are
    held in RM, outside of the MMA step."""
    s, product = _product(subject)
    if product is None:
        return
    for holding in subject.plan.steps[s].holdings:
        if holding.region is not None:
            headline = f"`{holding.buffer}` would be held for a single atom"
            labels = subject.at_entry(s, holding.buffer)
            said = f"hold it at a step outside of MMA, or nowhere: `{holding.buffer}` is then held in RM"
            yield Diagnostic(OPERAND, headline, labels, help=said)
    for x in product.dims:
        yield from _dealt(subject, s, x.dim)
    for axis in "nk" if product.atom.grouped else "":
        several = [x for x in product.axes[axis] if x.room > 1]
        if len(several) > 1:
            named = listed(subject.dim(x.dim) for x in several)
            headline = f"MMA.{axis} takes {named}, and atoms of warp groups take one dimension there"
            labels = tuple(label for x in several for label in subject.at_tile(s, x.dim))
            said = (
                "tiles of 1 for all but one of them, or several dimensions on MMA.m; or `@atom(mma)` and WRP"
            )
            yield Diagnostic(CODE, headline, labels, help=said)
            return
    kept = () if product.atom.grouped else masked(subject.program, subject.stage, subject.tiles, product)
    for load, own in _factors(product):
        yield from _factor(subject, s, product, load, own, kept)


def _dealt(subject: Subject, s: int, dim: int) -> Iterator[Diagnostic]:
    """@cyclic deals out whole atoms, and all those of a unit at the same distance."""
    levels = subject.tiles.levels
    inner = [lv for lv in levels.by_dim[dim] if lv.step >= s]
    apart = any(lv.step > s and levels.index[dim].coefficient(lv.var) != lv.tile for lv in inner)
    if apart or len({lv.step for lv in inner}) < len(inner):
        dealt = next(lv for lv in levels.by_dim[dim] if lv.cyclic)
        headline = f"`@cyclic({dealt.cyclic})` cuts atoms, or the loop over them, along `{subject.dim(dim)}`"
        tile = subject.plan.steps[s].splits[dim].tile
        labels = subject.at_core(dealt.step, dim)
        yield Diagnostic(CODE, headline, labels, help=f"`@cyclic({tile})` deals out atoms, or leave it out")


def _product(subject: Subject) -> tuple[int, Product | None]:
    s = subject.plan.atoms
    return (0, None) if s is None else (s, subject.plan.steps[s].product)


def _factor(
    subject: Subject,
    s: int,
    product: Product,
    load: Load,
    own: tuple[AtomDim, ...],
    kept: tuple[Guard, ...],
) -> Iterator[Diagnostic]:
    """own: the dimensions of the factor beside those of k. kept: guards that lanes keep by zeros."""
    name = load.buffer
    index = affine_index(subject.program, subject.stage, load.index)
    copies = _copies(subject, load)
    if copies and copies[-1].step >= s:
        headline = f"`{name}` is staged at the MMA step, whose atoms read it"
        said = f"move `{name}:SM[…]` to a step outside of MMA"
        yield Diagnostic(OPERAND, headline, subject.at_entry(copies[-1].step, name), help=said)
        return
    if index is None or not copies or copies[-1].tile.space is not Space.SM:
        headline = f"`{name}` is not staged in SM, where atoms read their factors"
        labels = subject.at_entry(copies[-1].step, name) if copies else subject.at_step(s)
        layout = ",".join(str(n + 1) for n in range(len(load.index)))
        said = f"`{name}:SM[{layout}]` at a step outside of MMA"
        if copies and product.atom.grouped and copies[-1].tile.space is Space.RM:
            said = f"warp groups hold the factor along MMA.m in registers, this one is along MMA.n; {said}"
        yield Diagnostic(OPERAND, headline, labels, help=said)
        return
    read = AtomRead(product, load, own, copies[-1], index, s)
    wrong = _holes(subject.tiles.levels, s, read)
    registers = product.held is not None and own is product.m
    if registers and (odd := misplaced(subject, s, product, copies[-1])) is not None:
        yield odd
        return
    if wrong is None and product.atom.grouped and not registers:
        found = group_factor(product, own, copies[-1], index, subject.tiles.levels, s)
        wrong = None if isinstance(found, GroupFactor) else found
    elif wrong is None:
        way = way_of(subject.stage, subject.tiles.levels, read, kept)
        wrong = None if isinstance(way, Way) else way
    if wrong is not None:
        yield Diagnostic(OPERAND, wrong[0], subject.at_entry(copies[-1].step, name), help=wrong[1])


def _factors(product: Product) -> tuple[tuple[Load, tuple[AtomDim, ...]], ...]:
    return (product.left, product.m), (product.right, product.n)


def _copies(subject: Subject, load: Load) -> list[Copy]:
    return copies_of(subject.program, subject.stage, subject.tiles, load)


def _cut_within(subject: Subject, load: Load, dims: tuple[AtomDim, ...]) -> Iterator[Diagnostic]:
    """The first remainder inside of the staged part of a factor: atoms would read past what was copied."""
    levels = subject.tiles.levels
    mine = {x.dim for x in dims}
    for copy in _copies(subject, load)[-1:]:
        inside = [levels.of_var(v) for axis in copy.tile.axes for v, *_ in axis.variables]
        cut = next((lv for lv in inside if not lv.exact and lv.dim in mine), None)
        if cut is not None:
            name = subject.dim(cut.dim)
            headline = (
                f"the staged part of `{copy.tile.buffer}` has {cut.parent} along `{name}`, and atoms read"
                f" tiles of {cut.tile}, of which the last one reaches past its end"
            )
            labels = subject.at_tile(cut.step, cut.dim) + subject.at_entry(copy.step, copy.tile.buffer)
            said = f"a tile that divides {cut.parent}, or stage `{copy.tile.buffer}` inside of these tiles"
            yield Diagnostic(EDGE, headline, labels, help=said)


def _holes(levels: Levels, s: int, read: AtomRead) -> Reason | None:
    """Why the elements of an atom along a dimension do not lie at equal distances, and what to do."""
    copy = read.copy
    for axis, function in zip(copy.tile.axes, copy.linear, strict=True):
        mine = read.dims & function.names
        apart = axis.packed and any(not _even(axis, levels.by_dim[int(d)], s) for d in mine)
        if apart or any(function.coefficient(d) < 1 for d in mine):
            headline = f"`{copy.tile.buffer}` is not read at equal distances along the atom's dimensions"
            return headline, "use THR and a register tile"
    return None


def _even(axis: Axis, levels: tuple[Level, ...], s: int) -> bool:
    """Whether the digits of an atom along a dimension follow one another in a packed axis."""
    inner = {lv.var for lv in levels if lv.step > s}
    found = sorted((radix, parts) for var, parts, _, radix in axis.variables if var in inner)
    return all(one * parts == other for (one, parts), (other, _) in pairwise(found))


def check_edges(subject: Subject) -> Iterator[Diagnostic]:
    """K173. Tiles along m and n inside of the staged part of a factor divide one another, so that it has
    every element that an atom takes. So do those along k of warp groups. Where tiles of k are cut outside of
    it, both factors end at the same k: copies have zeros behind it. Lanes of single warps put zeros."""
    _, product = _product(subject)
    if product is None:
        return
    deep = product.k if product.atom.grouped else ()
    found = [d for load, own in _factors(product) for d in _cut_within(subject, load, (*own, *deep))]
    # schedules that were not read from a text have no places
    within = {d.labels[0].span if d.labels else d.headline: d for d in reversed(found)}
    if within:
        yield from within.values()
        return
    for x in deep:
        yield from _cut_sum(subject, product, x.dim)


def _cut_sum(subject: Subject, product: Product, k: int) -> Iterator[Diagnostic]:
    """Where tiles of a dimension of k are cut: that they do not overlap, and that both factors end there."""
    levels = subject.tiles.levels
    extent, name = levels.extents[k], subject.dim(k)
    cut = [g for g in levels.guards if g.dim == k]
    inner = next((g for g in cut if g.bound != extent or g.offset != levels.index[k]), None)
    if inner is not None:
        headline = f"tiles of `{name}` overlap: {inner.level.tile} does not divide {inner.bound}"
        labels = subject.at_tile(inner.level.step, k)
        said = "an atom takes all of its elements; only the outermost split may leave a remainder"
        yield Diagnostic(EDGE, headline, labels, help=said)
        return
    for load in (product.left, product.right) if cut else ():
        index = affine_index(subject.program, subject.stage, load.index)
        shape = subject.program.buffer_of[load.buffer].shape
        ends = [(f, n) for f, n in zip(index or (), shape, strict=False) if str(k) in f.names]
        if ends != [(Affine.var(str(k)), extent)]:
            headline = f"the last tile of `{name}` is cut, and `{load.buffer}` goes on behind it"
            labels = subject.at_tile(cut[0].level.step, k) + subject.at_dim(k)
            said = f"atoms take whole tiles: choose tiles of `{name}` that divide {extent}"
            yield Diagnostic(EDGE, headline, labels, help=said)
