"""What a message about tma copies, warp groups and roles proposes is legal when it is followed."""

from pathlib import Path

import pytest

from tests.atoms.products import planned

REJECT = Path(__file__).parent.parent / "reject"
TMA, ASYNC, PLAIN = "@copy(tma)", "@copy(async)", "@copy(plain)"
ROLES = " @roles(load=1, math=2)"
FOLLOWED: dict[str, tuple[tuple[str, str], ...]] = {
    "K166/tma_registers": (("A:RM[1,2]@copy(tma)", "A:RM[1,2]@copy(plain)"),),
    "K166/tma_again": (("8 ) ( A:SM[1,2]@copy(tma)", "8 ) ( A:SM[1,2]@copy(plain)"),),
    "K166/tma_array_rows": ((TMA, ASYNC),),
    "K166/tma_else": ((TMA, ASYNC), ("@copy(tma else async)", ASYNC)),
    "K166/tma_part_rows": (("^,^,6 )", "^,^,8 )"),),
    "K166/tma_transposing": (("[2,1]", "[1,2]"),),
    "K166/tma_words": ((",vec=4)@pad(4)@cache(stream)", ")"),),
    "K166/tma_gaps": ((TMA, PLAIN),),
    "K166/tma_boxes": (("^,^,264 )", "^,^,132 )"),),
    "K166/tma_mixed": ((ASYNC, TMA),),
    "K166/tma_scan": ((TMA, ASYNC),),
    "K172/group_async": ((ASYNC, TMA),),
    "K172/group_no_swizzle": (("B:SM[1,2]@copy(tma)", "B:SM[1,2]@copy(tma)@swizzle(128)"),),
    "K172/group_bytes": (("B[128][256]", "B[256][128]"), ("B[k][j]", "B[j][k]")),
    "K172/group_rows_inside": (("64,8,", "64,64,"),),
    "K170/group_lanes": (("THR.x", "WGP.x"),),
    "K170/group_warps": (("WRP.x", "^"),),
    "K171/group_shape": (("64,100,16", "64,96,16"),),
    "K141/stream_grid": ((", ^ ) @roles", ", ^ ) @persistent @roles"),),
    "K146/no_roles": (("@persistent", f"@persistent{ROLES}"),),
    "K146/turns": ((", turns", ""), ("math=2", "math=1")),
    "K146/loop": (("( ^,64,^ ) ( ^,^ ; ^ ) ( ^, FOR.1, ^ )", "( ^,^,^ ) ( ^,^ ; ^ ) ( ^, ^, ^ )"),),
    "K174/math": (("math=1", "math=2"),),
    "K174/threads": (("8,8,^", "4,8,^"),),
    "K174/nothing_staged": ((ROLES, ""),),
    "K174/copied_by_all": ((ASYNC, ""), ("B:SM[1,2]", "^"), (TMA + ", ^", TMA + ", B:SM[1,2]@copy(tma)")),
    "K174/held": (("C:SM", "C:RM"),),
    "K174/cluster": (("C:RM[1,2]", "C:RM[1,2]@combine(kernel)"),),
    "K174/turns_grid": ((", ^ ) @roles", ", ^ ) @persistent @roles"),),
    "K174/turns_alone": (("math=1", "math=2"),),
    "K174/turns_team": (("math=3", "math=4"),),
    "K174/turns_loop": (("1: (de-)comp( 128,", "1: (de-)comp( 64,"),),
    "K174/turns_copied": (("^ ; ^ ) ( ^, ^, ^ )", "^ ; C:RM[1,2] ) ( ^, ^, ^ )"),),
    "K174/asked": (("regs=20/240", "regs=24/240"),),
    "K174/too_many": (("regs=40/240", "regs=40/232"),),
    "K110/inflight_warps": ((" @inflight(1) @unroll", ""),),
    "K110/inflight_no_roles": (("BLK.x, ^ )", f"BLK.x, ^ ){ROLES}"),),
    "K110/inflight_slots": (("@stages(2)", "@stages(3)"),),
    "K110/roles_place": ((ROLES, ""), ("BLK.x, ^ )", f"BLK.x, ^ ){ROLES}")),
    "K153/group_roles": (("regs=24/136", "regs=24/160"),),
    "K153/group_share": (("256,256,^", "128,256,^"),),
    "K190/load": (("load=2", "load=1"),),
}
"""Case → what is replaced in its texts."""


@pytest.mark.parametrize("case", FOLLOWED)
def test_help_is_legal(case: str) -> None:
    folder = REJECT / case
    texts = [(folder / name).read_text(encoding="utf-8") for name in ("input.c", "schedule.mdh")]
    changed = list(texts)
    for old, new in FOLLOWED[case]:
        assert any(old in text for text in changed), old
        changed = [text.replace(old, new) for text in changed]
    machine = (folder / "cmd").read_text(encoding="utf-8").split()[-1]
    planned(*changed, machine)


@pytest.mark.parametrize(("extent", "read"), [("A[257][128]", "A[i + 1][k]"), ("A[256][136]", "A[i][k + 8]")])
def test_factors_may_be_read_at_an_offset(extent: str, read: str) -> None:
    """Boxes begin at the offset, so that atoms begin where a pattern of the swizzle does."""
    folder = REJECT / "K110" / "inflight_slots"
    source = (folder / "input.c").read_text(encoding="utf-8").replace("A[256][128]", extent)
    schedule = (folder / "schedule.mdh").read_text(encoding="utf-8").replace(" @inflight(2)", "")
    planned(source.replace("A[i][k]", read), schedule)
