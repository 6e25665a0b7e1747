"""`@combine(stream)`: the loop whose iterations the blocks of a grid share."""

from mdh.hardware import Engine, Space
from mdh.ir.layout import Level
from mdh.ir.program import DimKind, Stage
from mdh.ir.tile import Copy, Hold, Loop, Tiles, walk


def stream_level(stage: Stage, tiles: Tiles) -> Level | None:
    """The outermost loop of a tile, if it is over a sum whose results RM holds outside of it; None: there is
    no such loop, or something is copied outside."""
    holding = False
    for node in walk(tiles.body):
        match node:
            case Hold(tile) if tile.space is Space.RM:
                holding = True
            case Loop(level) if holding and not node.lanes and stage.dims[level.dim].kind is DimKind.PW:
                return level
            case Copy(engine=Engine.TMA) | Loop() | Hold():
                return None
            case _:
                pass
    return None
