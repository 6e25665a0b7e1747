"""How the factors of a warp group's atoms lie in shared memory: as the copy engine writes them with a
swizzle, and as a matrix descriptor can say. Source: PTX ISA, "Shared Memory Matrix Layout"."""

from dataclasses import dataclass

from mdh.hardware import Engine
from mdh.ir.affine import Affine
from mdh.ir.atoms import Atom
from mdh.ir.layout import Levels
from mdh.ir.plan import AtomDim, Product
from mdh.ir.tile import BOX_LINE, Copy

Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


@dataclass(frozen=True, slots=True)
class GroupFactor:
    """A factor in shared memory. along_k: its rows run along k. group: rows of the copy from 8 rows of an
    atom to the next 8."""

    along_k: bool
    group: int = BOX_LINE


def group_factor(
    product: Product,
    own: tuple[AtomDim, ...],
    copy: Copy,
    index: tuple[Affine, ...],
    levels: Levels,
    step: int,
) -> GroupFactor | Reason:
    """own: the dimensions of the factor beside k. index: where it is read. step: index of the MMA step."""
    tile, name = copy.tile, copy.tile.buffer
    if copy.engine is not Engine.TMA or not tile.swizzle:
        fact = f"warp groups read factors that the copy engine has swizzled, and `{name}` is not"
        return fact, "`@copy(tma)@swizzle(128)`"
    # a dimension with one element in an atom is a loop around it
    several = tuple(x for x in own if x.room > 1)
    if len(several) > 1:
        return _several(product, several, copy, index, levels, step)
    return _one(product, own is product.m, several[0].dim, copy, index, levels, step)


def _one(
    product: Product, rows: bool, own: int, copy: Copy, index: tuple[Affine, ...], levels: Levels, step: int
) -> GroupFactor | Reason:
    """One dimension of the factor has more than one element in an atom. rows: it is on MMA.m."""
    tile, atom, name, k = copy.tile, product.atom, copy.tile.buffer, product.k[-1].dim
    kept = [d for d in tile.layout if tile.shape[d] > 1]
    along = [_atom_dim(copy.linear[d], own, k, gaps=tile.axes[d].packed) for d in kept]
    if len(kept) < 2 or None in along[-2:] or along[-1] == along[-2]:
        fact = f"the last two dimensions of `{name}` in SM are not those of the atom"
        return fact, "warps (WRP) instead of warp groups"
    fast, slow = kept[-1], kept[-2]
    along_k = along[-1] == k
    if not along_k and not atom.transposes:
        order = ",".join(str(d + 1) for d in (*kept[:-2], fast, slow))
        fact = f"rows of `{name}` do not run along k, and warp groups read {_words(atom)} only so"
        warps = f"warps (WRP), and `{name}:SM[{order}]`"
        if atom.packed == 1:
            plain = ",".join(str(d + 1) for d in sorted((*kept[:-2], fast, slow)))
            warps = f"`{name}` along MMA.m, and `{name}:RM[{plain}]` right above the MMA step; or warps (WRP)"
        said = f"an array whose dimensions have the order [{order}]; or {warps}"
        return fact, said
    depth, width = (atom.k, atom.m if rows else atom.n)
    row = tile.span or tile.shape[fast]
    # the pattern of a swizzle is one of addresses: rows along k may begin anywhere in it
    whole, line = (depth, 1) if along_k else (row, BOX_LINE)
    for axis, of in ((fast, whole), (slow, line)):
        if _inside(index[axis], axis, copy, levels, step, of):
            fact = f"atoms begin inside of the pattern of the swizzle of `{name}`: it has {of} elements"
            said = f"tiles and atoms in multiples of {of} along dimension {axis + 1} of `{name}`"
            return f"{fact} along dimension {axis + 1}", said
    if not along_k and width > row and not tile.span:
        return f"rows of `{name}` are shorter than the atom", "larger tiles"
    if tile.shape[slow] % line:
        return f"the part of `{name}` has {tile.shape[slow]} rows", f"tiles in multiples of {line}"
    return GroupFactor(along_k)


def _several(
    product: Product,
    own: tuple[AtomDim, ...],
    copy: Copy,
    index: tuple[Affine, ...],
    levels: Levels,
    step: int,
) -> GroupFactor | Reason:
    """Several dimensions make up the rows of an atom. A descriptor finds 8 rows side by side, and the next 8
    at a distance that is always the same."""
    tile, atom, name = copy.tile, product.atom, copy.tile.buffer
    fast = tile.layout[-1]
    if copy.linear[fast].coefficient(str(product.k[-1].dim)) != 1 or any(
        copy.linear[fast].coefficient(str(x.dim)) for x in own
    ):
        fact = f"rows of `{name}` in SM do not run along k, and several dimensions share an axis of the atom"
        return fact, "an array whose last dimension is that of k; or one dimension on the axis"
    local = [axis.local(levels.over(f)) for axis, f in zip(tile.axes, index, strict=True)]
    # rows of the copy by variable: rows of all other axes follow one another. An atom begins at any of them,
    # since the pattern of a swizzle is one of addresses
    distance, below = list[tuple[Affine, int]](), 1
    for d in reversed(tile.layout[:-1]):
        distance.append((local[d], below))
        below *= tile.shape[d]
    rows = sum((f.scale(n) for f, n in distance), Affine())
    depth = _inside(index[fast], fast, copy, levels, step, atom.k)
    groups = set[int]()
    for x in own:
        var = next(lv.var for lv in reversed(levels.by_dim[x.dim]) if lv.step > step)
        apart = rows.coefficient(var)
        if (x.weight < BOX_LINE and apart != x.weight) or apart * BOX_LINE % x.weight:
            groups |= {0, 1}
        elif x.weight * x.room > BOX_LINE:
            groups.add(apart * BOX_LINE // x.weight)
    ranges = {lv.var: (0, lv.parts - 1) for lv in levels.all}
    inside = frozenset(tile.variables)
    reach = (Affine.of({v: c for v, c in f.terms if v in inside}, f.const).bounds(ranges)[1] for f in local)
    past = any(r >= n for r, n in zip(reach, tile.shape, strict=True))
    if depth or len(groups) != 1 or past:
        fact = f"the rows of an atom do not follow one another in `{name}` by {BOX_LINE} at equal distances"
        last = f"the last dimension on the axis in tiles of {BOX_LINE}"
        said = f"{last}, and those before it at equal distances in the part of `{name}`"
        return fact, f"{said}; or warps (WRP) instead of warp groups"
    return GroupFactor(True, groups.pop())


def _words(atom: Atom) -> str:
    return "bytes" if atom.left.bytes == 1 else f"{atom.left} factors"


def _atom_dim(function: Affine, own: int, k: int, *, gaps: bool) -> int | None:
    """The dimension of the atom that a tile's axis runs along, at distance 1, or gaps: as it is copied."""
    found = [d for d in (own, k) if function.coefficient(str(d))]
    return found[0] if len(found) == 1 and (gaps or function.coefficient(str(found[0])) == 1) else None


def _inside(function: Affine, axis: int, copy: Copy, levels: Levels, step: int, whole: int) -> bool:
    """Whether an atom begins elsewhere than at a multiple of `whole` along the axis."""
    local = copy.tile.axes[axis].local(levels.over(function))
    terms = [c for var, c in local.terms if levels.of_var(var).step <= step]
    return any(c % whole for c in (*terms, local.const))
