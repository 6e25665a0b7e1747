"""The passes on hand-made bodies: what each adds, and what it must leave alone."""

from dataclasses import replace

from mdh.hardware import Space
from mdh.ir.dtype import F32, I32
from mdh.ir.expr import Binary, Const, Expr, Load, Select, Var
from mdh.ir.kernel import Alloc, Barrier, Buf, For, ForKind, If, Let, Move, Stmt, Store
from mdh.ir.walk import statements
from mdh.lower.passes.ahead import read_ahead
from mdh.lower.passes.barriers import place_barriers
from mdh.lower.passes.prune import prune
from mdh.lower.passes.reuse import reuse_shared
from mdh.lower.passes.unroll import unroll_registers
from mdh.lower.passes.unswitch import unswitch
from mdh.lower.passes.vectorise import vectorise
from mdh.lower.passes.widen import widen

MEMORY = Buf("M", Space.DM, F32, (64,), (1,), align=16)
ROW = Buf("R", Space.RM, F32, (8,), (1,), align=16)
TID = Var("tid")


def loop(var: str, n: int, *body: Stmt, kind: ForKind = ForKind.SEQ) -> For:
    return For(var, Const(0, I32), Const(n, I32), Const(1, I32), body, kind)


def add(a: Expr, b: Expr) -> Binary:
    return Binary("+", a, b, I32)


def barriers(*body: Stmt) -> list[str]:
    placed = place_barriers(body, frozenset({"S"}), frozenset({"tid"}))
    return [type(s).__name__ for s in statements(placed)]


def test_a_barrier_parts_filling_from_reading() -> None:
    fill = Store("S", (TID,), Const(1.0, F32))
    use = Store("M", (TID,), Load("S", (Const(0, I32),), F32))
    assert barriers(fill, use) == ["Store", "Barrier", "Store"]


def test_a_loop_needs_one_before_it_fills_again() -> None:
    fill = Store("S", (TID,), Const(1.0, F32))
    use = Store("M", (TID,), Load("S", (Const(0, I32),), F32))
    assert barriers(loop("k", 4, fill, use)) == ["For", "Barrier", "Store", "Barrier", "Store"]


def test_no_barrier_inside_a_branch_that_threads_take_apart() -> None:
    use = Store("M", (TID,), Load("S", (Const(0, I32),), F32))
    apart = If(Binary("<", TID, Const(3, I32), I32), (use,))
    placed = place_barriers(
        (Store("S", (TID,), Const(1.0, F32)), apart), frozenset({"S"}), frozenset({"tid"})
    )
    assert [type(s) for s in placed] == [Store, Barrier, If]
    assert not any(isinstance(s, Barrier) for s in statements(placed[2].then))  # type: ignore[union-attr]


def test_a_branch_on_a_register_that_all_threads_agree_on_is_uniform() -> None:
    flag = Buf("flag", Space.RM, I32, (), ())
    use = Store("M", (TID,), Load("S", (Const(0, I32),), F32))
    body: tuple[Stmt, ...] = (
        Alloc(flag, Const(0, I32)),
        Store("S", (TID,), Const(1.0, F32)),
        If(Load("flag", (), I32), (use,)),
    )
    placed = place_barriers(body, frozenset({"S"}), frozenset({"tid"}))
    assert isinstance(placed[2], If)
    assert isinstance(placed[2].then[0], Barrier)


def test_prune_drops_what_nothing_reads() -> None:
    body: tuple[Stmt, ...] = (
        Alloc(ROW),
        Let("unused", Const(1, I32)),
        loop("i", 8, Move("R", (Var("i"),), "M", (Var("i"),))),
        Store("M", (Const(0, I32),), Const(2.0, F32)),
    )
    assert prune(body) == body[3:]


def test_unroll_marks_only_loops_that_index_registers() -> None:
    inner = loop("j", 8, Store("R", (Var("j"),), Const(0.0, F32)))
    body = unroll_registers((Alloc(ROW), loop("i", 4, inner)))
    kinds = {s.var: s.kind for s in statements(body) if isinstance(s, For)}
    assert kinds == {"i": ForKind.SEQ, "j": ForKind.UNROLL}


def test_widen_moves_four_aligned_neighbours_at_once() -> None:
    at = add(Binary("*", TID, Const(8, I32), I32), Var("i"))
    copy = loop("i", 8, Move("R", (Var("i"),), "M", (at,)), kind=ForKind.UNROLL)
    body = widen((Alloc(ROW), copy), {"M": MEMORY}, set())
    moves = [s for s in statements(body) if isinstance(s, Move)]
    assert [m.lanes for m in moves] == [4]


def test_widen_leaves_what_may_be_misaligned() -> None:
    at = add(add(Binary("*", TID, Const(8, I32), I32), Const(1, I32)), Var("i"))
    copy = loop("i", 8, Move("R", (Var("i"),), "M", (at,)), kind=ForKind.UNROLL)
    assert widen((Alloc(ROW), copy), {"M": MEMORY}, set()) == (Alloc(ROW), copy)


def test_widen_reads_no_row_that_only_a_condition_keeps_inside() -> None:
    """A row is read whatever the condition inside of a value says."""
    at = add(Binary("*", TID, Const(8, I32), I32), Var("i"))
    inside = Binary("<", at, Const(60, I32), I32)
    value = Select(inside, Load("A", (add(at, Const(4, I32)),), F32), Const(0.0, F32), F32)
    body = (loop("i", 8, Store("M", (at,), value), kind=ForKind.UNROLL),)
    bufs = {"M": MEMORY, "A": replace(MEMORY, name="A")}
    for guarded_reads, found in (((), ["A", "M"]), (("A",), ["M"])):
        wide = widen(body, bufs, set(), frozenset(guarded_reads))
        moves = [s for s in statements(wide) if isinstance(s, Move)]
        assert sorted({m.src for m in moves} & {"A"} | {m.dst for m in moves} & {"M"}) == found


def guarded(cond: Expr) -> For:
    at = add(Binary("*", TID, Const(8, I32), I32), Var("i"))
    store = Store("M", (at,), Load("R", (Var("i"),), F32))
    return loop("i", 8, If(cond, (store,)), kind=ForKind.UNROLL)


def below(n: int, shift: int = 0) -> Binary:
    start = add(Binary("*", TID, Const(8, I32), I32), Const(shift, I32))
    return Binary("<", add(start, Var("i")), Const(n, I32), I32)


def widths(body: tuple[Stmt, ...]) -> list[int]:
    return [s.lanes for s in statements(body) if isinstance(s, Move)]


def test_widen_guards_a_vector_whose_elements_are_on_one_side() -> None:
    assert widths(widen((Alloc(ROW), guarded(below(60))), {"M": MEMORY}, set())) == [4]
    assert widths(widen((Alloc(ROW), guarded(below(62))), {"M": MEMORY}, set())) == [2]
    assert widths(widen((Alloc(ROW), guarded(below(63, 3))), {"M": MEMORY}, set())) == [4]
    rows = Binary("&&", Binary("<", Var("row"), Const(7, I32), I32), below(60), I32)
    assert widths(widen((Alloc(ROW), guarded(rows)), {"M": MEMORY}, set())) == [4]


def test_widen_leaves_guards_that_may_cut_a_vector() -> None:
    even = Binary("==", Var("i"), Const(0, I32), I32)
    data = Binary("<", Load("M", (Const(0, I32),), F32), Const(1.0, F32), I32)
    other = Binary("<", add(Var("row"), Var("i")), Const(60, I32), I32)
    for cond in (below(61), below(60, 1), even, data, other):
        body = (Alloc(ROW), guarded(cond))
        assert widen(body, {"M": MEMORY}, set()) == body


def test_updates_read_ahead_of_their_guard() -> None:
    held = Load("M", (Var("i"),), F32)
    store = Store("M", (Var("i"),), Binary("+", held, Load("R", (Var("i"),), F32), F32))
    cond = Binary("<", Var("i"), TID, I32)
    (new,) = read_ahead((loop("i", 8, If(cond, (store,)), kind=ForKind.UNROLL),), {"M": MEMORY}, set())
    assert isinstance(new, For)
    read, write = new.body
    assert read == Let("held", Select(cond, held, Const(0, F32), F32), F32)
    assert write == If(cond, (replace(store, value=replace(store.value, left=Var("held", F32))),))


def test_reads_stay_where_loops_turn_or_conditions_read() -> None:
    store = Store("M", (Var("i"),), Binary("+", Load("M", (Var("i"),), F32), Const(1.0, F32), F32))
    turns = loop("i", 8, If(Binary("<", Var("i"), TID, I32), (store,)))
    data = Binary("<", Load("M", (Const(0, I32),), F32), Const(1.0, F32), I32)
    for s in (turns, loop("i", 8, If(data, (store,)), kind=ForKind.UNROLL)):
        assert read_ahead((s,), {"M": MEMORY}, set()) == (s,)


def test_vectorise_keeps_accumulators_in_vectors() -> None:
    value = Binary("+", Load("R", (Var("v"),), F32), Load("M", (Var("v"),), F32), F32)
    body = vectorise(
        (Alloc(ROW), loop("v", 8, Store("R", (Var("v"),), value), kind=ForKind.VEC)),
        {"M": MEMORY},
        set(),
        wide=True,
        guarded=frozenset(),
    )
    (row, store) = body
    assert isinstance(row, Alloc)
    assert row.buf.lanes == 8
    assert store == Store(
        "R",
        (Const(0, I32),),
        Binary("+", Load("R", (Const(0, I32),), F32, 8), Load("M", (Const(0, I32),), F32, 8), F32),
    )


def test_vectorise_unrolls_what_strides() -> None:
    scatter = Store("M", (Binary("*", Var("v"), Const(2, I32), I32),), Const(0.0, F32))
    body = vectorise(
        (loop("v", 4, scatter, kind=ForKind.VEC),), {"M": MEMORY}, set(), wide=True, guarded=frozenset()
    )
    assert [s.kind for s in body if isinstance(s, For)] == [ForKind.UNROLL]


EARLY, LATE = (Buf(name, Space.SM, F32, (64,), (1,), align=16) for name in ("E", "L"))


def shares(*body: Stmt, late: Buf = LATE, own: frozenset[str] = frozenset()) -> bool:
    allocs = (Alloc(EARLY), Alloc(late))
    return Alloc(late) not in reuse_shared((*allocs, *body), own)


def put(name: str) -> Store:
    return Store(name, (TID,), Const(1.0, F32))


def get(name: str) -> Store:
    return Store("M", (TID,), Load(name, (Const(0, I32),), F32))


def test_results_take_the_place_of_inputs_that_no_path_reads_again() -> None:
    assert shares(put("E"), get("E"), put("L"), get("L"))
    assert shares(If(TID, (put("E"), get("E"), put("L")), (put("E"), put("L"))), get("L"))
    assert not shares(put("E"), put("L"), get("E"), get("L"))
    assert not shares(loop("k", 4, put("E"), put("L"), get("L")))
    assert not shares(put("E"), If(TID, (put("L"),)), get("E"))
    assert not shares(put("E"), Store("L", (TID,), Load("E", (TID,), F32)), get("L"))


def test_only_alike_buffers_whose_barriers_are_placed_are_shared() -> None:
    body = (put("E"), get("E"), put("L"), get("L"))
    assert not shares(*body, late=Buf("L", Space.SM, F32, (65,), (1,), align=16))
    assert not shares(*body, own=frozenset({"E"}))
    assert shares(*body, own=frozenset({"L"}))


def test_what_takes_the_place_waits_for_the_last_reader() -> None:
    body = reuse_shared((Alloc(EARLY), Alloc(LATE), put("E"), get("E"), put("L"), get("L")), frozenset())
    placed = place_barriers(body, frozenset({"E"}), frozenset({"tid"}))
    assert [type(s) for s in placed] == [Alloc, Store, Barrier, Store, Barrier, Store, Barrier, Store]


def asked(cond: Expr, kind: ForKind = ForKind.SEQ) -> For:
    return loop("p", 16, If(cond, (Store("M", (Var("p"),), Const(1.0, F32)),)), kind=kind)


def test_a_branch_that_all_turns_take_or_none_comes_before_the_loop() -> None:
    edge = Binary("<", TID, Const(3, I32), I32)
    (found,) = unswitch((loop("q", 2, asked(edge)),))
    assert isinstance(found, If), "out of both loops"
    assert found.cond == edge
    assert [type(s) for s in statements(found.then)] == [For, For, Store]


def test_a_branch_stays_that_varies_reads_memory_or_is_unrolled() -> None:
    own = Binary("<", add(TID, Var("p")), Const(3, I32), I32)
    read = Binary("<", Load("M", (TID,), I32), Const(3, I32), I32)
    edge = Binary("<", TID, Const(3, I32), I32)
    for kept in (asked(own), asked(read), asked(edge, ForKind.UNROLL)):
        assert unswitch((kept,)) == (kept,)
