"""The order in which blocks take the tiles of the grid: rows, grouped rows, Hilbert's curve.

Neighbouring blocks that share operands run at about the same time, so those stay in the L2 cache.
"""

from collections.abc import Callable

from mdh.hardware import BlockOrder, Space
from mdh.ir.construct import ZERO, add, div, equal, less, mod, mul, num, sub
from mdh.ir.dtype import I32
from mdh.ir.expr import Binary, Call, Const, Expr, Load, Select, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Alloc, Buf, For, Let, Stmt, Store
from mdh.ir.plan import Grid

Fresh = Callable[[str], str]
"""Makes a name that is not in use from the one that is wanted."""


def tile_of(
    grid: Grid, width: Expr | int, height: Expr | int, tile: Expr, fresh: Fresh
) -> tuple[list[Stmt], Expr, Expr]:
    """(definitions, x, y) of tile number `tile` in a grid of width × height, which open sizes may give."""
    match grid.order:
        case BlockOrder.GROUPED:
            group = min(grid.group, height) if isinstance(height, int) else grid.group
            return _grouped(group, width, height, tile, fresh)
        case BlockOrder.HILBERT:
            assert isinstance(width, int) and isinstance(height, int), "K117 refuses open grids"
            return _hilbert(width, height, tile, fresh)
        case _:
            return [], _op("%", tile, width), _op("/", tile, width)


def _grouped(
    group: int, width: Expr | int, height: Expr | int, tile: Expr, fresh: Fresh
) -> tuple[list[Stmt], Expr, Expr]:
    """`group` rows at a time, column by column inside a group; the last group may be lower."""
    number, within = fresh("group"), fresh("in_group")
    whole = group * width if isinstance(width, int) else mul(width, group)
    lets: list[Stmt] = [
        Let(number, _op("/", tile, whole)),
        Let(within, _op("%", tile, whole)),
    ]
    rows: Expr = Const(group, I32)
    if not isinstance(height, int) or height % group:
        left = sub(height, mul(Var(number), group))
        rows = Call(Intrinsic.IMIN, (Const(group, I32), left), I32)
        height_name = fresh("group_rows")
        lets.append(Let(height_name, rows))
        rows = Var(height_name)
    y = add(mul(Var(number), group), mod(Var(within), rows))
    return lets, div(Var(within), rows), y


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
        Alloc(Buf(hx, Space.RM, I32, (), ()), ZERO),
        Alloc(Buf(hy, Space.RM, I32, (), ()), ZERO),
        Alloc(Buf(hd, Space.RM, I32, (), ()), _op("%", tile, side * side)),
    ]
    x, y, d = (Load(n, (), I32) for n in (hx, hy, hd))
    bit = Var(bit_name)
    rx = Binary("&", div(d, 2), Const(1, I32), I32)
    ry = Binary("&", Binary("^", d, Var(rx_name), I32), Const(1, I32), I32)
    flip = equal(Var(ry_name), 0)
    mirror = equal(Var(rx_name), 1)
    edge = sub(bit, 1)
    ux = Select(mirror, sub(edge, x), x, I32)
    uy = Select(mirror, sub(edge, y), y, I32)
    turn: tuple[Stmt, ...] = (
        Let(rx_name, rx),
        Let(ry_name, ry),
        Let(ux_name, Select(flip, uy, x, I32)),
        Let(uy_name, Select(flip, ux, y, I32)),
        Store(hx, (), add(Var(ux_name), mul(bit, Var(rx_name)))),
        Store(hy, (), add(Var(uy_name), mul(bit, Var(ry_name)))),
        Store(hd, (), div(d, 4)),
    )
    if side > 1:
        lets.append(For(bit_name, num(1), num(side), bit, turn))
    in_x = add(mul(_op("%", Var(square), across), side), x)
    in_y = add(mul(_op("/", Var(square), across), side), y)
    past = sub(tile, squares)
    right = max(1, width - across * side)
    right_x = add(across * side, _op("%", past, right))
    below = sub(past, strip)
    in_strip = less(past, strip)
    low_x, low_y = _op("%", below, width), add(down * side, _op("/", below, width))
    inside = less(tile, squares)
    out_x = Select(inside, in_x, Select(in_strip, right_x, low_x, I32), I32)
    out_y = Select(inside, in_y, Select(in_strip, _op("/", past, right), low_y, I32), I32)
    return lets, out_x, out_y


def _op(op: str, e: Expr, n: Expr | int) -> Expr:
    if n == 1:
        return e if op == "/" else ZERO
    return Binary(op, e, num(n), I32)
