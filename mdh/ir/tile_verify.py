"""What holds of every tile tree; a tree of which it does not is a bug of mdh."""

from math import prod

from mdh.hardware import Layer, Space
from mdh.ir.tile import Compute, Copy, Finish, Hold, Join, Loop, Node, Tile, Tiles, Units, walk


def verify_tiles(tiles: Tiles) -> None:
    """Raises AssertionError.

    Each digit is counted by one node, units stand around loops, from outer layers to inner ones; the scalar
    function stands once, inside of all of them; every result is finished once, behind its regions; a tile
    holds as many elements as its digits have values, or the box that they span, and comes from a layer that
    is no further in.
    """
    nodes = tuple(walk(tiles.body))
    counted = [node.level.var for node in nodes if isinstance(node, Units | Loop)]
    assert sorted(counted) == sorted(lv.var for lv in tiles.levels.all), "each digit is counted once"
    finished = sorted(node.result for node in nodes if isinstance(node, Finish))
    assert finished == list(range(len(tiles.stage.results))), "every result is finished once"
    assert sum(isinstance(node, Compute) for node in nodes) == 1
    _verify_nesting(tiles.body, ())
    for node in nodes:
        if isinstance(node, Copy | Hold):
            _verify_tile(tiles, node.tile)
        if isinstance(node, Copy):
            assert node.source.depth <= node.tile.space.depth, "copies go inward"


def _verify_nesting(body: tuple[Node, ...], around: tuple[Node, ...]) -> None:
    depths = [n.level.layer.depth for n in around if isinstance(n, Units) and n.level.layer is not None]
    for node in body:
        match node:
            case Units(level):
                assert level.layer not in (None, Layer.VEC) and not any(isinstance(n, Loop) for n in around)
                assert level.layer is not None and all(d <= level.layer.depth for d in depths)
            case Loop():
                assert node.lanes or not any(isinstance(n, Loop) and n.lanes for n in around), (
                    "lanes are innermost"
                )
            case Join(result) | Finish(result):
                held = any(isinstance(n, Hold) and n.result == result for n in around)
                assert not held, "parts meet behind the regions that hold them"
        if isinstance(node, Units | Loop | Hold):
            _verify_nesting(node.body, (*around, node))


def _verify_tile(tiles: Tiles, tile: Tile) -> None:
    assert tile.space in (Space.SM, Space.RM)
    assert sorted(tile.layout) == list(range(len(tile.axes))), "the layout is a permutation of the axes"
    for axis in tile.axes:
        assert axis.box >= 1 and axis.points == prod(parts for _, parts, _, _ in axis.variables)
        radix = 1
        for name, parts, _, own in reversed(axis.variables):
            assert own == radix and parts == tiles.levels.of_var(name).parts
            radix *= parts
