"""What `mdh explain` says, against numbers worked out by hand."""

import json
from dataclasses import replace

import pytest

from mdh.checker.run import check
from mdh.cost.work import operations
from mdh.frontend.c.read import read_program
from mdh.ir.dtype import F16, F32
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.report.entries import entries_of
from mdh.report.explain import StageReport, as_json, explain_plan
from mdh.report.text import bytes_text, count_text, explanation_text, seconds_text
from mdh.schedule.default import default_schedule
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from tests.check import programs
from tests.support.source_tree import ROOT

GPU = """
1: (de-)comp( 128,128,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ ) @order(grouped(8)) @occupancy(2)
2: (de-)comp( ^,^,8 ) ( A:SM[2,1]@pad(4), B:SM[1,2] ; C:RM[1,2] ) ( ^,^,FOR.1 ) @stages(2)
3: (de-)comp( 64,32,^ ) ( ^,^ ; ^ ) ( WRP.y, WRP.x, ^ )
4: (de-)comp( 8,8,^ ) ( ^,^ ; ^ ) ( THR.y@cyclic(4), THR.x@cyclic(4), ^ )
5: (de-)comp( ^,^,1 ) ( A:RM[1,2], B:RM[1,2] ; ^ ) ( ^,^,FOR.1 ) @unroll
"""
CPU = """
1: (de-)comp( 96,128,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( ^,^,128 ) ( ^, B:SM[1,2] ; ^ ) ( ^,^,FOR.1 )
3: (de-)comp( 6,16,^ ) ( ^,^ ; ^ ) ( FOR.2, FOR.1, ^ )
4: (de-)comp( ^,^,1 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,FOR.1 )
5: (de-)comp( 1,8,^ ) ( ^,^ ; ^ ) ( FOR.1, FOR.2, ^ ) @unroll
6: (de-)comp( ^,1,^ ) ( ^,^ ; ^ ) ( ^, VEC.x, ^ )
"""


def _plan(program: Program, text: str, machine: str) -> Plan:
    chosen = load_machine(machine)
    return check(program, parse_schedule(Source("<test>", text)), chosen, chosen.targets[0])


def _report(program: Program, text: str, machine: str) -> StageReport:
    plan = _plan(program, text, machine)
    return explain_plan(plan, lower(plan)).stages[0]


@pytest.fixture(scope="module")
def gpu() -> StageReport:
    return _report(programs.matmul(1024, 1024, 1024), GPU, "h200")


def _moves(report: StageReport) -> dict[tuple[str, str, str], tuple[tuple[int, ...], int]]:
    return {(m.buffer, m.source, m.sink): (m.box, m.total) for m in report.moves}


def test_footprints_of_staged_copies(gpu: StageReport) -> None:
    """64 blocks × 128 rounds × a 128×8 panel; 16,384 threads × 1,024 rounds × 8 elements."""
    moves = _moves(gpu)
    assert moves["A", "DM", "SM"] == ((128, 8), 64 * 128 * 128 * 8 * 4)
    assert moves["B", "DM", "SM"] == ((8, 128), 64 * 128 * 8 * 128 * 4)
    assert moves["A", "SM", "RM"] == ((8, 1), 64 * 256 * 1024 * 8 * 4)
    assert moves["C", "RM", "DM"] == ((), 1024 * 1024 * 4)
    assert moves["C", "DM", "RM"] == ((), 1024 * 1024 * 4)


def test_operations_and_intensity(gpu: StageReport) -> None:
    assert gpu.operations == 2 * 1024**3
    assert gpu.compulsory == 4 * 4 * 1024 * 1024
    dm = next(row for row in gpu.layers if row.layer == "DM")
    assert dm.bytes == (32 + 32 + 4 + 4) << 20
    assert dm.intensity == pytest.approx(2 * 1024**3 / (72 << 20))


def test_launch_and_residency(gpu: StageReport) -> None:
    (kernel,) = gpu.resources
    assert (kernel.threads, kernel.blocks) == (256, 64)
    assert kernel.shared_bytes >= (8 * 132 + 8 * 128) * 4 * 2 - 64
    assert kernel.registers >= 64 + 16
    assert 0 < kernel.occupancy <= 1


def test_results_carried_by_outer_reduction_loops() -> None:
    """Eight panels of k: the text adds each register tile into C eight times."""
    report = _report(programs.matmul(1024, 1024, 1024), CPU, "generic-cpu")
    moves = _moves(report)
    assert moves["C", "RM", "DM"] == ((), 8 * 1024 * 1024 * 4)
    assert moves["C", "DM", "RM"] == ((), 8 * 1024 * 1024 * 4)
    dm = next(row for row in report.layers if row.layer == "DM")
    assert dm.bytes == (264 + 44 + 32 + 32) << 20


def test_a_result_that_starts_from_nothing_is_not_read_first() -> None:
    """Eight turns store, seven of them onto what is there."""
    program = programs.matmul(1024, 1024, 1024)
    stage = program.stages[0]
    fresh = replace(stage, results=(replace(stage.results[0], starts=(None,)),))
    moves = _moves(_report(replace(program, stages=(fresh,)), CPU, "generic-cpu"))
    assert moves["C", "RM", "DM"] == ((), 8 * 1024 * 1024 * 4)
    assert moves["C", "DM", "RM"] == ((), 7 * 1024 * 1024 * 4)


def test_merges_between_regions() -> None:
    """Each of 16 rounds of k merges the threads' registers into shared memory, which leaves once."""
    text = """
    1: (de-)comp( 16,16,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
    2: (de-)comp( ^,^,4 ) ( ^,^ ; C:SM[1,2] ) ( ^,^,FOR.1 )
    3: (de-)comp( ^,8,^ ) ( ^,^ ; ^ ) ( ^,FOR.1,^ )
    4: (de-)comp( 1,1,^ ) ( ^,^ ; ^ ) ( THR.y,THR.x,^ )
    5: (de-)comp( ^,^,1 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,FOR.1 )
    """
    moves = _moves(_report(programs.matmul(64, 64, 64), text, "a100"))
    assert moves["C", "RM", "SM"] == ((), 16 * 64 * 64 * 2 * 4)
    assert moves["C", "SM", "DM"] == ((), 64 * 64 * 4)
    assert moves["C", "DM", "SM"] == ((), 64 * 64 * 4)


def test_an_unfinished_state_waits_in_a_workspace() -> None:
    """f16 sums are held in f32, which the output cannot hold between the four turns of the outer loop."""
    text = """
    1: (de-)comp( 16,16,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )
    2: (de-)comp( ^,^,16 ) ( ^,^ ; ^ ) ( ^,^,FOR.1 )
    3: (de-)comp( 4,4,^ ) ( ^,^ ; ^ ) ( FOR.1,FOR.2,^ )
    4: (de-)comp( ^,^,1 ) ( ^,^ ; C:RM[1,2] ) ( ^,^,FOR.1 )
    """
    program = programs.matmul(64, 64, 64, dtype=F16)
    stage = program.stages[0]
    result = replace(stage.results[0], types=(F32,))
    program = replace(program, stages=(replace(stage, results=(result,)),))
    moves = _moves(_report(program, text, "a100"))
    assert moves["matmul_state", "RM", "DM"] == ((), 4 * 64 * 64 * 4)
    assert moves["matmul_state", "DM", "RM"] == ((), 3 * 64 * 64 * 4)
    assert moves["matmul_state", "DM", "OP"] == ((), 64 * 64 * 4)
    assert moves["C", "OP", "DM"] == ((), 64 * 64 * 2)


@pytest.mark.parametrize(("part", "runs"), [(2, 1), (32, 1), (64, 2)])
@pytest.mark.parametrize(("method", "before"), [("ticket", 0), ("kernel", 1)])
def test_threads_scan_long_parts_twice(method: str, before: int, part: int, runs: int) -> None:
    """Once for its sum, once from its prefix, where registers do not keep it between the two; without
    look-back a kernel before sums the blocks' parts."""
    text = f"""
    1: (de-)comp( 512 ) ( x:SM[1] ; s:SM[1]@combine({method}) ) ( BLK.x )
    2: (de-)comp( {part} ) ( ^ ; ^ ) ( THR.x )
    """
    report = _report(programs.scan(4096), text, "h200")
    moves = _moves(report)
    assert moves["x", "DM", "SM"][1] == (1 + before) * 4096 * 4
    assert moves["x", "SM", "OP"][1] == (runs + before) * 4096 * 4
    assert moves["s", "RM", "SM"][1] == moves["s", "SM", "DM"][1] == 4096 * 4
    assert len(report.resources) == 1 + 2 * before


@pytest.mark.parametrize("method", ["kernel", "atomic"])
def test_parts_of_a_split_reduction(method: str) -> None:
    text = f"1: (de-)comp( 256 ) ( ^,^ ; ^@combine({method}) ) ( BLK.x )"
    report = _report(programs.dot(1024), text, "a100")
    moves, names = _moves(report), [r.kernel for r in report.resources]
    if method == "kernel":
        assert moves["dot_part", "RM", "DM"] == moves["dot_part", "DM", "OP"] == ((), 4 * 4)
        assert moves["r", "OP", "DM"] == ((), 4)
        assert names == ["dot_kernel", "dot_combine"]
    else:
        assert moves["r", "RM", "DM"] == moves["r", "DM", "RM"] == ((), 4 * 4)
        assert moves["r", "OP", "DM"] == ((), 4)
        assert names == ["dot_start", "dot_kernel"]


def test_kernels_have_the_names_of_the_text() -> None:
    """And registers of the versions for whole and for cut tiles count once: they never live together."""
    plan = _plan(programs.matmul(1024, 1024, 1024), CPU, "generic-cpu")
    module = lower(plan)
    (kernel,) = explain_plan(plan, module).stages[0].resources
    assert [kernel.kernel] == [k.name for k in emit(module, plan.program).kernels]
    assert (kernel.private_bytes, kernel.shared_bytes) == (6 * 16 * 4, 128 * 128 * 4)


def test_loop_tree(gpu: StageReport) -> None:
    rows = [(r.depth, r.kind, r.name, r.dim, r.parts, r.tile) for r in gpu.loops]
    assert rows[:4] == [
        (0, "unit", "BLK.y", "i", 8, 128),
        (1, "unit", "BLK.x", "j", 8, 128),
        (2, "for", "for", "k", 128, 8),
        (3, "copy", "A:SM[2,1]", "", 1, 1),
    ]
    assert gpu.loops[-1].kind == "body"


def test_reads_of_an_unrolled_body_count_once() -> None:
    """The 6×16 tile reads six elements of A and sixteen of B at each k."""
    report = _report(programs.matmul(1024, 1024, 1024), CPU, "generic-cpu")
    moves = _moves(report)
    assert moves["A", "DM", "OP"][0] == (6, 1)
    assert moves["B", "SM", "OP"][0] == (1, 16)
    first = next(r for r in report.loops if r.name == "BLK.y")
    assert (first.parts, first.last) == (11, 1024 - 10 * 96)


def test_skeleton_is_a_legal_schedule() -> None:
    some = (programs.matmul(), programs.dot(), programs.rowsum(), programs.jacobi(), programs.conv())
    for program in some:
        skeleton = entries_of(program, program.stages[0]).skeleton
        _plan(program, skeleton, "a100")


def test_json_is_plain_data() -> None:
    plan = _plan(programs.matmul(), "1: (de-)comp( 8,8,^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )", "a100")
    module = lower(plan)
    value = json.loads(json.dumps(as_json(explain_plan(plan, module))))
    assert value["stages"][0]["resources"][0]["blocks"] == 64


def test_text_names_every_loop_and_layer(gpu: StageReport) -> None:
    plan = _plan(programs.matmul(1024, 1024, 1024), GPU, "h200")
    text = explanation_text(explain_plan(plan, lower(plan)))
    for word in ("BLK.y i", "WRP.x j", "copy A:SM[2,1]", "hold C:RM[1,2]", "occupancy", "operations a byte"):
        assert word in text


@pytest.mark.parametrize("machine", ["h200", "generic-cpu"])
def test_all_but_schedules_is_readable_at_80_columns(machine: str) -> None:
    """Of programs with many arrays, long names and deep loops, too."""
    for name in ("prl", "matmul_bias_relu", "ccsdt_1", "grouped_conv", "conv2d_56", "softmax"):
        path = ROOT / "inputs_c" / f"{name}.c"
        program = read_program(Source(path.name, path.read_text(encoding="utf-8")))
        chosen = load_machine(machine)
        schedule = default_schedule(program, chosen, chosen.targets[0])
        plan = check(program, schedule, chosen, chosen.targets[0])
        for row in explanation_text(explain_plan(plan, lower(plan))).splitlines():
            assert len(row) <= 79 or "(de-)comp" in row or " ; " in row or "// " in row, row


def test_operations_leave_subscripts_out() -> None:
    assert operations(programs.jacobi().stages[0]) > 0
    assert operations(programs.dot(1000).stages[0]) == 2000


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (bytes_text(0), "0 B"),
        (bytes_text(1536), "1.5 KiB"),
        (bytes_text(1 << 40), "1.0 TiB"),
        (seconds_text(0.0015), "1.5 ms"),
        (seconds_text(2e-9), "2 ns"),
        (seconds_text(0.9996e-3), "1 ms"),
        (seconds_text(0.99951), "1 s"),
        (count_text(999), "999"),
        (count_text(999_900), "1 M"),
        (count_text(12_300_000), "12.3 M"),
    ],
)
def test_numbers_as_text(shown: str, wanted: str) -> None:
    assert shown == wanted


def test_loops_that_a_cyclic_split_cuts_are_shown_as_the_code_has_them(gpu: StageReport) -> None:
    """Blocks of 4 are dealt out, so a thread's 8 rows are 2 blocks of 4."""
    last = [(row.dim, row.parts, row.tile) for row in gpu.loops if row.kind == "for" and row.step == 6]
    assert last == [("i", 2, 4), ("i", 4, 1), ("j", 2, 4), ("j", 4, 1)]
