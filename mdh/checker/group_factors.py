"""How the factors of a warp group's atoms lie in shared memory: as the copy engine writes them with a
swizzle, and as a matrix descriptor can say. Source: PTX ISA, "Shared Memory Matrix Layout"."""

from dataclasses import dataclass

from mdh.hardware import Engine
from mdh.ir.affine import Affine
from mdh.ir.atoms import Atom
from mdh.ir.layout import Levels
from mdh.ir.plan import Product
from mdh.ir.tile import BOX_LINE, Copy

Reason = tuple[str, str]
"""What is wrong, and what is legal instead."""


@dataclass(frozen=True, slots=True)
class GroupFactor:
    """A factor in shared memory. fast, slow: the axes of its tile along a row, and from a row to the next.
    along_k: rows run along k."""

    fast: int
    slow: int
    along_k: bool


def group_factor(
    product: Product, own: int, copy: Copy, index: tuple[Affine, ...], levels: Levels, step: int
) -> GroupFactor | Reason:
    """own: the dimension of the factor beside k. index: where it is read. step: the index of the MMA step."""
    tile, atom, name = copy.tile, product.atom, copy.tile.buffer
    if copy.engine is not Engine.TMA or not tile.swizzle:
        fact = f"warp groups read factors that the copy engine has swizzled, and `{name}` is not"
        return fact, "`@copy(tma)@swizzle(128)`"
    kept = [d for d in tile.layout if tile.shape[d] > 1]
    along = [_atom_dim(copy.linear[d], own, product.k) for d in kept]
    if len(kept) < 2 or None in along[-2:] or along[-1] == along[-2]:
        fact = f"the last two dimensions of `{name}` in SM are not those of the atom"
        return fact, "warps (WRP) instead of warp groups"
    fast, slow = kept[-1], kept[-2]
    along_k = along[-1] == product.k
    if not along_k and not atom.transposes:
        order = ",".join(str(d + 1) for d in (*kept[:-2], fast, slow))
        fact = f"rows of `{name}` do not run along k, and warp groups read {_words(atom)} only so"
        warps = f"warps (WRP), and `{name}:SM[{order}]`"
        if atom.packed == 1:
            plain = ",".join(str(d + 1) for d in sorted((*kept[:-2], fast, slow)))
            warps = f"`{name}` along MMA.m, and `{name}:RM[{plain}]` right above the MMA step; or warps (WRP)"
        said = f"an array whose dimensions have the order [{order}]; or {warps}"
        return fact, said
    depth, width = (atom.k, atom.m if own == product.m else atom.n)
    row = tile.span or tile.shape[fast]
    whole = depth if along_k else row
    for axis, of in ((fast, whole), (slow, BOX_LINE)):
        if _inside(index[axis], axis, copy, levels, step, of):
            fact = f"atoms begin inside of the pattern of the swizzle of `{name}`: it has {of} elements"
            said = f"tiles and atoms in multiples of {of} along dimension {axis + 1} of `{name}`"
            return f"{fact} along dimension {axis + 1}", said
    if not along_k and width > row and not tile.span:
        return f"rows of `{name}` are shorter than the atom", "larger tiles"
    if tile.shape[slow] % BOX_LINE:
        return f"the part of `{name}` has {tile.shape[slow]} rows", f"tiles in multiples of {BOX_LINE}"
    return GroupFactor(fast, slow, along_k)


def _words(atom: Atom) -> str:
    return "bytes" if atom.left.bytes == 1 else f"{atom.left} factors"


def _atom_dim(function: Affine, own: int, k: int) -> int | None:
    """The dimension of the atom that a tile's axis runs along, at distance 1."""
    found = [d for d in (own, k) if function.coefficient(str(d))]
    return found[0] if len(found) == 1 and function.coefficient(str(found[0])) == 1 else None


def _inside(function: Affine, axis: int, copy: Copy, levels: Levels, step: int, whole: int) -> bool:
    """Whether an atom begins elsewhere than at a multiple of `whole` along the axis."""
    local = copy.tile.axes[axis].local(levels.over(function))
    terms = [c for var, c in local.terms if levels.of_var(var).step <= step]
    return any(c % whole for c in (*terms, local.const))
