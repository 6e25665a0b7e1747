"""Sizes that follow from the shapes of constants, as N and M of `float C[N][M]` from `--const C=C.npy`."""

from mdh.frontend.constant_arrays import no_array, refused, split_constants
from mdh.frontend.open_defines import Defines, is_range
from mdh.frontend.read import read_heading
from mdh.ir.open_size import OpenSize
from mdh.source import Source


def sizes_of_constants(source: Source, defines: Defines, function: str | None) -> dict[str, int]:
    """The sizes by name, without those that `defines` bind. Raises Failed C127 if two constants disagree, or
    if one has another number of dimensions than its parameter."""
    arrays = split_constants({n: v for n, v in defines.items() if isinstance(v, str)})[0]
    if not arrays:
        return {}
    closed = {
        n: v
        for n, v in defines.items()
        if n not in arrays and not isinstance(v, OpenSize) and not is_range(v)
    }
    heading = read_heading(source, defines=closed, function=function)
    shapes = {name: extents for name, extents in heading.shapes.items() if extents}
    found: dict[str, tuple[int, str]] = {}
    for name, array in arrays.items():
        if name not in heading.parameters:
            raise no_array(name, shapes, heading.name)
        extents = shapes.get(name, ())
        if len(extents) > 1 and len(extents) != len(array.shape):
            what = f"`{name}` has {len(extents)} dimensions, the constant {len(array.shape)}"
            raise refused(what, "give an array of the parameter's shape", name)
        for size, extent in zip(extents, array.shape, strict=False):
            if size is None or size in defines or size in heading.fixed:
                continue
            known, other = found.setdefault(size, (extent, name))
            if known != extent:
                what = f"`{size}` is {known} and {extent} by the shape of `{name}`"
                if other != name:
                    what = f"`{size}` is {known} by the shape of `{other}`, and {extent} by that of `{name}`"
                raise refused(what, "give arrays whose shapes agree", name)
    return {size: extent for size, (extent, _) in found.items()}
