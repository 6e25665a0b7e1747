"""The order in which blocks take the tiles of the grid: rows, grouped rows, Hilbert's curve.

Neighbouring blocks that share operands run at about the same time, so those stay in the L2 cache.
"""

from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.kernel import Alloc, Buf, For, Let, Space, Stmt, Store
from mdh.ir.plan import Grid


def tile_of(grid: Grid, width: int, height: int, tile: Expr) -> tuple[list[Stmt], Expr, Expr]:
    """(definitions, x, y) of tile number `tile` in a grid of width × height."""
    match grid.order:
        case "grouped":
            return _grouped(min(grid.group, height), width, height, tile)
        case "hilbert":
            return _hilbert(width, height, tile)
        case _:
            return [], _op("%", tile, width), _op("/", tile, width)


def _grouped(group: int, width: int, height: int, tile: Expr) -> tuple[list[Stmt], Expr, Expr]:
    """`group` rows at a time, column by column inside a group; the last group may be lower."""
    lets: list[Stmt] = [
        Let("group", _op("/", tile, group * width)),
        Let("in_group", _op("%", tile, group * width)),
    ]
    rows: Expr = Const(group, I32)
    if height % group:
        left = Binary("-", Const(height, I32), Binary("*", Var("group"), Const(group, I32), I32), I32)
        rows = Call("imin", (Const(group, I32), left), I32)
        lets.append(Let("group_rows", rows))
        rows = Var("group_rows")
    y = Binary(
        "+", Binary("*", Var("group"), Const(group, I32), I32), Binary("%", Var("in_group"), rows, I32), I32
    )
    return lets, Binary("/", Var("in_group"), rows, I32), y


def _hilbert(width: int, height: int, tile: Expr) -> tuple[list[Stmt], Expr, Expr]:
    """Hilbert's curve inside the largest power-of-two squares that tile the grid; rows in what is left.

    The grid is cut into squares of side s (s² tiles each, one after another); tiles past the last whole
    square go in rows over the two remaining strips.
    """
    side = 1
    while side * 2 <= min(width, height):
        side *= 2
    across, down = width // side, height // side
    squares = across * down * side * side
    strip = (width - across * side) * (down * side)
    lets: list[Stmt] = [
        Let("square", _op("/", tile, side * side)),
        Alloc(Buf("hx", Space.RM, I32, (), ()), Const(0, I32)),
        Alloc(Buf("hy", Space.RM, I32, (), ()), Const(0, I32)),
        Alloc(Buf("hd", Space.RM, I32, (), ()), _op("%", tile, side * side)),
    ]
    x, y, d = (Load(n, (), I32) for n in ("hx", "hy", "hd"))
    bit = Var("bit")
    rx = Binary("&", Binary("/", d, Const(2, I32), I32), Const(1, I32), I32)
    ry = Binary("&", Binary("^", d, Var("rx"), I32), Const(1, I32), I32)
    flip = Binary("==", Var("ry"), Const(0, I32), I32)
    mirror = Binary("==", Var("rx"), Const(1, I32), I32)
    edge = Binary("-", bit, Const(1, I32), I32)
    ux = Select(mirror, Binary("-", edge, x, I32), x, I32)
    uy = Select(mirror, Binary("-", edge, y, I32), y, I32)
    turn: tuple[Stmt, ...] = (
        Let("rx", rx),
        Let("ry", ry),
        Let("ux", Select(flip, uy, x, I32)),
        Let("uy", Select(flip, ux, y, I32)),
        Store("hx", (), Binary("+", Var("ux"), Binary("*", bit, Var("rx"), I32), I32)),
        Store("hy", (), Binary("+", Var("uy"), Binary("*", bit, Var("ry"), I32), I32)),
        Store("hd", (), Binary("/", d, Const(4, I32), I32)),
    )
    if side > 1:
        lets.append(For("bit", Const(1, I32), Const(side, I32), bit, turn))
    in_x = Binary("+", Binary("*", _op("%", Var("square"), across), Const(side, I32), I32), x, I32)
    in_y = Binary("+", Binary("*", _op("/", Var("square"), across), Const(side, I32), I32), y, I32)
    past = Binary("-", tile, Const(squares, I32), I32)
    right = max(1, width - across * side)
    right_x = Binary("+", Const(across * side, I32), _op("%", past, right), I32)
    below = Binary("-", past, Const(strip, I32), I32)
    in_strip = Binary("<", past, Const(strip, I32), I32)
    low_x, low_y = _op("%", below, width), Binary("+", Const(down * side, I32), _op("/", below, width), I32)
    inside = Binary("<", tile, Const(squares, I32), I32)
    out_x = Select(inside, in_x, Select(in_strip, right_x, low_x, I32), I32)
    out_y = Select(inside, in_y, Select(in_strip, _op("/", past, right), low_y, I32), I32)
    return lets, out_x, out_y


def _op(op: str, e: Expr, n: int) -> Expr:
    if n == 1:
        return e if op == "/" else Const(0, I32)
    return Binary(op, e, Const(n, I32), I32)
