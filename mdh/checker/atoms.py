"""Which atom of tensor cores an MMA step means."""

from math import prod

from mdh.checker.atom_places import places_of
from mdh.checker.options import Found, word
from mdh.checker.subject import Draft, at, listed
from mdh.diagnostics import Diagnostic, Label
from mdh.hardware import Layer
from mdh.ir.atoms import ATOMS, WGMMA, Atom, atoms_of, factor_type
from mdh.ir.dtype import F32, DType
from mdh.ir.expr import Load, Var, walk
from mdh.ir.plan import AtomDim, Product
from mdh.ir.product_sum import summed_reads
from mdh.ir.program import Stage
from mdh.language import LANGUAGES
from mdh.schedule.model import Step, Unit

CODE = "K171"
MOST_SHOWN = 8
Places = dict[str, tuple[AtomDim, ...]]
ACC = {"f32": "f32", "f16": "f16", "f64": "f64", "s32": "i32"}
"""What `@acc` calls a type, and what mdh calls it."""
NEEDS = "needs `--allow tf32` or `#pragma mdh allow(tf32)` in the C function"


Axes = dict[str, tuple[int, ...]]
"""m, n and k to dimensions, in the order of the C; an axis without dimensions is left out."""


def axes_of(step: Step) -> Axes:
    """The dimensions on the axes of an MMA step."""
    units = [(d, c.value) for d, c in enumerate(step.cores) if isinstance(c.value, Unit)]
    mine = [(d, u.axis) for d, u in units if u.layer is Layer.MMA]
    return {x: dims for x in "mnk" if (dims := tuple(d for d, axis in mine if axis == x))}


def ordered_reads(stage: Stage, axes: Axes, reads: tuple[Load, Load]) -> tuple[Load, Load] | None:
    """A, read along m and k, and B, read along k and n; None where there are no such two."""
    m, n, k = ({stage.dims[d].name for d in axes[x]} for x in "mnk")
    for a, b in (reads, reads[::-1]):
        if m | k <= names_in(a) and n | k <= names_in(b) and not (n & names_in(a) or m & names_in(b)):
            return a, b
    return None


def names_in(load: Load) -> set[str]:
    """Variables of the C that a read's index names."""
    return {v.name for e in load.index for v in walk(e) if isinstance(v, Var)}


def product_of(draft: Draft, tiles: tuple[int, ...], found: Found) -> Product | None:
    """What the last step's atoms compute. None, and K171, where there is no such atom; None alone where K170
    says what is wrong. tiles: of the step."""
    step = draft.splitting[-1]
    axes, reads = axes_of(step), summed_reads(draft.stage)
    if set(axes) != set("mnk") or isinstance(reads, str):
        return None
    factors = ordered_reads(draft.stage, axes, reads[:2])
    taken = (c.value for s in draft.splitting for c in s.cores if isinstance(c.value, Unit))
    own = (Layer.THR, Layer.VEC, *((Layer.WRP,) if by_group(draft) else ()))
    if factors is None or any(u.layer in own for u in taken):
        return None
    if not LANGUAGES[draft.target].tensor_cores:
        labels = at(step.span, "a tensor-core step")
        headline = f"{LANGUAGES[draft.target].title} has no words for tensor cores"
        found.append(Diagnostic(CODE, headline, labels, help="use THR and a register tile"))
        return None
    converted = [word(a) or "" for a in step.attrs if a.name == "as"]
    left, right = (factor_type(f.dtype, converted) for f in factors)
    types = (left, right, reads[2])
    wrong = _said(step, factors, types)
    fits = None if wrong else _atom(draft, step, (axes, tiles), types, found)
    found.extend(wrong)
    if fits is None:
        return None
    atom, places = fits
    return Product(atom, places["m"], places["n"], places["k"], *factors)


def _said(step: Step, factors: tuple[Load, Load], types: tuple[DType, DType, DType]) -> Found:
    """What is wrong with `@atom`, `@acc` and `@as`. types: in which atoms multiply and add."""
    out: Found = []
    known = {a.word for a in ATOMS if (a.left, a.right, a.acc) == types}
    left, right, acc = types
    for attr in step.attrs:
        said = word(attr)
        if attr.name == "atom" and known and said not in known:
            headline = f"`@atom({said})` does not multiply {left} by {right}"
            fits = listed(f"@atom({w})" for w in sorted(known))
            other = "with WRP instead of WGP" if said == WGMMA else "or leave it out"
            out.append(Diagnostic(CODE, headline, at(attr.span), help=f"write {fits}, {other}"))
        elif attr.name == "acc" and ACC.get(said or "") != str(acc):
            headline = f"`@acc({said})` adds in another type than the C, which adds in {acc}"
            out.append(Diagnostic(CODE, headline, at(attr.span), help="leave it out"))
        elif attr.name == "as" and (odd := next((f for f in factors if f.dtype != F32), None)) is not None:
            headline = f"`@as({said})` is for factors of f32, and `{odd.buffer}` has {odd.dtype}"
            out.append(Diagnostic(CODE, headline, at(attr.span), help="leave it out"))
    return out


def _atom(
    draft: Draft,
    step: Step,
    given: tuple[Axes, tuple[int, ...]],
    types: tuple[DType, DType, DType],
    found: Found,
) -> tuple[Atom, Places] | None:
    """The smallest atom that the dimensions on the axes fit with their tiles, and the places that they take;
    None, and K171, where there is none. given: both."""
    left, right, acc = types
    grouped = by_group(draft)
    of_types = [a for a in ATOMS if (a.left, a.right, a.acc) == types]
    all_here = [a for a in atoms_of(draft.machine.compute_capability) if a in of_types]
    of_types, here = ([a for a in x if a.grouped is grouped] for x in (of_types, all_here))
    fitting = ((a, places_of(a, *given, draft.extents)) for a in sorted(here, key=lambda a: a.shape))
    best = next(((a, places) for a, places in fitting if places is not None), None)
    if best is not None:
        return best
    what = f"multiplies {left} by {right} and adds {acc}{' in a warp group' if grouped else ''}"
    shape, shown = _given(*given)
    labels = tuple(Label(label.span, f"{shown} as m × n × k") for label in at(step.span))
    if not of_types:
        said = "f16, bf16 or 8-bit floats added in f32, 8-bit integers in i32" + (
            "; or warps (WRP) instead of warp groups"
            if grouped
            else ", f64 in f64; or THR and a register tile"
        )
        if types == (F32, F32, F32):
            rounded = "`@as(tf32)`, which rounds the factors to 11 significant bits"
            said = f"{rounded} and {NEEDS}; or THR and a register tile"
        found.append(Diagnostic(CODE, f"no atom {what}", labels, help=said))
    elif not here:
        least = min(a.since for a in of_types)
        headline = f"`{draft.machine.name}` has no atom that {what}"
        warps = "warps (WRP) instead of warp groups, and their atoms: "
        other = f"{warps}{_shapes(all_here, shape)}" if all_here else "THR and a register tile"
        said = f"GPUs of compute capability {least / 10} have; here: {other}"
        found.append(Diagnostic(CODE, headline, labels, help=said))
    else:
        headline = f"`{draft.machine.name}` has no atom of {shown} that {what}"
        said = f"shapes, the nearest first: {_shapes(here, shape)}{_rounded(given[0], grouped=grouped)}"
        found.append(Diagnostic(CODE, headline, labels, help=said))
    return None


def _given(axes: Axes, tiles: tuple[int, ...]) -> tuple[tuple[int, ...], str]:
    """The elements along m, n and k, and as the message shows them: `(2·8)×8×16`."""
    each = [[tiles[d] for d in axes[x]] for x in "mnk"]
    shown = ("·".join(map(str, one)) for one in each)
    shown = (f"({text})" if len(one) > 1 else text for text, one in zip(shown, each, strict=True))
    return tuple(map(prod, each)), "×".join(shown)


def _rounded(axes: Axes, *, grouped: bool) -> str:
    """What holds of an axis with several dimensions."""
    exact = "k" if grouped and len(axes["k"]) > 1 else ""
    said = f"; those on MMA.{exact} multiply to exactly that" if exact else ""
    if any(len(axes[x]) > 1 for x in "mnk" if x != exact):
        power = "; tiles that share an axis multiply to at most that, each rounded up to a power of two"
        said = f"{power}{said}"
    return said


def _shapes(atoms: list[Atom], shape: tuple[int, ...]) -> str:
    """Their shapes, the nearest to `shape` first."""
    near = sorted(atoms, key=lambda a: sum(abs(x - y) for x, y in zip(a.shape, shape, strict=True)))
    return ", ".join("×".join(map(str, a.shape)) for a in near[:MOST_SHOWN])


def by_group(draft: Draft) -> bool:
    """Whether warp groups issue the atoms: the schedule says so, or splits over WGP and not over WRP."""
    said = {word(a) for a in draft.splitting[-1].attrs if a.name == "atom"}
    layers = {c.value.layer for s in draft.splitting for c in s.cores if isinstance(c.value, Unit)}
    return WGMMA in said or (not said and Layer.WGP in layers and Layer.WRP not in layers)
