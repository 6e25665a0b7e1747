"""The order in which blocks take the tiles of the grid: rows, grouped rows, Hilbert's curve.

Neighbouring blocks that share operands run at about the same time, so those stay in the L2 cache.
"""

from collections.abc import Callable

from mdh.hardware import BlockOrder, Space
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Buf, For, Let, Stmt, Store
from mdh.ir.plan import Grid

Fresh = Callable[[str], str]
"""Makes a name that is not in use from the one that is wanted."""


def tile_of(grid: Grid, width: int, height: int, tile: Expr, fresh: Fresh) -> tuple[list[Stmt], Expr, Expr]:
    """(definitions, x, y) of tile number `tile` in a grid of width × height."""
    match grid.order:
        case BlockOrder.GROUPED:
            return _grouped(min(grid.group, height), width, height, tile, fresh)
        case BlockOrder.HILBERT:
            return _hilbert(width, height, tile, fresh)
        case _:
            return [], _op("%", tile, width), _op("/", tile, width)


def _grouped(group: int, width: int, height: int, tile: Expr, fresh: Fresh) -> tuple[list[Stmt], Expr, Expr]:
    """`group` rows at a time, column by column inside a group; the last group may be lower."""
    number, within = fresh("group"), fresh("in_group")
    lets: list[Stmt] = [
        Let(number, _op("/", tile, group * width)),
        Let(within, _op("%", tile, group * width)),
    ]
    rows: Expr = Const(group, I32)
    if height % group:
        left = Binary("-", Const(height, I32), Binary("*", Var(number), Const(group, I32), I32), I32)
        rows = Call(Intrinsic.IMIN, (Const(group, I32), left), I32)
        height_name = fresh("group_rows")
        lets.append(Let(height_name, rows))
        rows = Var(height_name)
    y = Binary(
        "+", Binary("*", Var(number), Const(group, I32), I32), Binary("%", Var(within), rows, I32), I32
    )
    return lets, Binary("/", Var(within), rows, I32), y


def _hilbert(width: int, height: int, tile: Expr, fresh: Fresh) -> tuple[list[Stmt], Expr, Expr]:
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
    square, bit_name, *names = (fresh(n) for n in ("square", "bit", "hx", "hy", "hd", "rx", "ry", "ux", "uy"))
    hx, hy, hd, rx_name, ry_name, ux_name, uy_name = names
    lets: list[Stmt] = [
        Let(square, _op("/", tile, side * side)),
        Alloc(Buf(hx, Space.RM, I32, (), ()), Const(0, I32)),
        Alloc(Buf(hy, Space.RM, I32, (), ()), Const(0, I32)),
        Alloc(Buf(hd, Space.RM, I32, (), ()), _op("%", tile, side * side)),
    ]
    x, y, d = (Load(n, (), I32) for n in (hx, hy, hd))
    bit = Var(bit_name)
    rx = Binary("&", Binary("/", d, Const(2, I32), I32), Const(1, I32), I32)
    ry = Binary("&", Binary("^", d, Var(rx_name), I32), Const(1, I32), I32)
    flip = Binary("==", Var(ry_name), Const(0, I32), I32)
    mirror = Binary("==", Var(rx_name), Const(1, I32), I32)
    edge = Binary("-", bit, Const(1, I32), I32)
    ux = Select(mirror, Binary("-", edge, x, I32), x, I32)
    uy = Select(mirror, Binary("-", edge, y, I32), y, I32)
    turn: tuple[Stmt, ...] = (
        Let(rx_name, rx),
        Let(ry_name, ry),
        Let(ux_name, Select(flip, uy, x, I32)),
        Let(uy_name, Select(flip, ux, y, I32)),
        Store(hx, (), Binary("+", Var(ux_name), Binary("*", bit, Var(rx_name), I32), I32)),
        Store(hy, (), Binary("+", Var(uy_name), Binary("*", bit, Var(ry_name), I32), I32)),
        Store(hd, (), Binary("/", d, Const(4, I32), I32)),
    )
    if side > 1:
        lets.append(For(bit_name, Const(1, I32), Const(side, I32), bit, turn))
    in_x = Binary("+", Binary("*", _op("%", Var(square), across), Const(side, I32), I32), x, I32)
    in_y = Binary("+", Binary("*", _op("/", Var(square), across), Const(side, I32), I32), y, I32)
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
