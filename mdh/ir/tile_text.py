"""The tile tree as text: for people, for `--dump`, and for tests that compare."""

from collections.abc import Iterator
from typing import assert_never

from mdh.hardware import UNIT_AXES, Engine
from mdh.ir.affine import Affine
from mdh.ir.layout import Axis, Level, Levels
from mdh.ir.tile import Compute, Copy, Finish, Hold, Join, Loop, Node, Tile, Tiles, Units


def print_tiles(tiles: Tiles) -> str:
    """One line a dimension, then one line a node, indented under the node around it."""
    lines = [f"stage {tiles.stage.name}"]
    for d, dim in enumerate(tiles.stage.dims):
        lines.append(f"  {dim.name}: {dim.extent} {dim.kind}, {dim.name} = {_digits(tiles.levels, d)}")
    return "\n".join([*lines, *_nodes(tiles, tiles.body, 1)]) + "\n"


def _digits(levels: Levels, dim: int) -> str:
    weights = {lv.var: levels.index[dim].coefficient(lv.var) for lv in levels.by_dim[dim]}
    ordered = sorted(levels.by_dim[dim], key=lambda lv: -weights[lv.var])
    return " + ".join(f"{weights[lv.var]} {lv.var}" for lv in ordered) or "0"


def _nodes(tiles: Tiles, body: tuple[Node, ...], depth: int) -> Iterator[str]:
    margin = "  " * depth
    for node in body:
        match node:
            case Units(level):
                yield f"{margin}{level.layer}.{UNIT_AXES[level.axis]} {_counted(level)}"
            case Loop(level):
                yield f"{margin}{'lanes' if node.lanes else 'for'} {_counted(level)}"
            case Copy():
                yield margin + _copy(tiles, node)
            case Hold(tile, result):
                yield f"{margin}hold {_tile(tile)} of result {result}: {_variables(tile)}"
            case Compute():
                yield f"{margin}compute"
            case Join(result, methods):
                yield f"{margin}join result {result}: {', '.join(methods)}"
            case Finish(result):
                outputs = ", ".join(dict.fromkeys(o.buffer for o in tiles.stage.results[result].outputs))
                yield f"{margin}finish result {result}: {outputs}"
            case _:
                assert_never(node)
        if isinstance(node, Units | Loop | Hold):
            yield from _nodes(tiles, node.body, depth + 1)


def _counted(level: Level) -> str:
    rest = "" if level.exact else f", the last of {level.parent - (level.parts - 1) * level.tile}"
    dealt = f", dealt by {level.cyclic}" if level.cyclic else ""
    return f"{level.var} < {level.parts}: parts of {level.tile}{rest}{dealt}"


def _copy(tiles: Tiles, node: Copy) -> str:
    engine = "" if node.engine is Engine.PLAIN else f", {node.engine}"
    where = ", ".join(_function(tiles, axis.low) for axis in node.tile.axes)
    return f"copy {_tile(node.tile)} from {node.source} at ({where}){engine}: {_variables(node.tile)}"


def _tile(tile: Tile) -> str:
    shape = "×".join(map(str, tile.shape)) or "1"
    layout = ",".join(str(k + 1) for k in tile.layout)
    pad = f" pad {tile.pad}" if tile.pad else ""
    swizzle = f" swizzle {tile.swizzle}" if tile.swizzle else ""
    slots = f" in {tile.slots} slots" if tile.slots > 1 else ""
    return f"{tile.buffer}:{tile.space}[{layout}] {shape}{pad}{swizzle}{slots}, {tile.bytes} bytes"


def _variables(tile: Tile) -> str:
    """Which digits lie along each axis: as in the buffer, or packed by radix."""
    return "; ".join(_axis(axis) for axis in tile.axes) or "one element"


def _axis(axis: Axis) -> str:
    terms = [(radix if axis.packed else c, name) for name, _, c, radix in axis.variables]
    return " + ".join(f"{weight} {name}" for weight, name in terms) or "0"


def _function(tiles: Tiles, function: Affine) -> str:
    terms = [f"{c} {name}" for name, c in function.terms]
    constant = [str(function.const)] if function.const or not terms else []
    return " + ".join((*terms, *constant))
