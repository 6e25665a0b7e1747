"""A tuning for a range of sizes, from the command line to the kernels of its table."""

import json
from pathlib import Path

import numpy as np
import pytest

import mdh
from mdh.cli.main import run
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from tests.target.test_dispatch import PARAMETERS
from tests.target.test_folder import build
from tests.target.test_folder import run as run_folder


def _right(kernel: mdh.Kernel, size: int) -> bool:
    a, b = np.ones((size, 24), np.float32), np.ones((24, 16), np.float32)
    return bool((kernel(N=16, A=a, B=b, C=np.zeros((size, 16), np.float32)) == 24).all())


@pytest.mark.slow
def test_the_table_is_written_and_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mm.c").write_text(PARAMETERS, encoding="utf-8")
    file, out = str(tmp_path / "mm.c"), tmp_path / "out"
    words = ["tune", file, "--over", "M=8..11", "-D", "N=16", "--device", "c", "-o", str(out)]
    assert run([*words, "--trials", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [cell["over"] for cell in found["cells"]] == ["M=8", "M=9..11"]
    assert [cell["tuned"] is not None for cell in found["cells"]] == [False, True]
    assert {p["sizes"]["M"] for p in found["points"]} == {8, 9, 11}
    table = parse_schedule(Source("table", found["table"]))
    assert (out / "mm.over.mdh").read_text(encoding="utf-8") == found["table"]
    assert [h.sizes for h in table.sizes] == [(("N", 16),)]
    kernel = mdh.compile(file, str(out / "mm.over.mdh"), "c", defines={"N": 16})
    assert all(_right(kernel, size) for size in (8, 9, 10, 11))
    build(out / "mm.over")
    for size in (8, 9, 11):
        done = run_folder(out / "mm.over", "mm", "", "--repeat", "0", f"M={size}")
        assert done.stdout == "mm: ok (worst error 0)\n", done.stderr
    # the records of the cells are continued, and the user's own table stays
    (out / "mm.over.mdh").write_text("// mine\n" + found["table"].split("\n", 1)[1], encoding="utf-8")
    ranges = {"M": mdh.open(8, 11)}
    tuned = mdh.tune_over(file, ranges, device="c", budget="1s", defines={"N": 16}, out=out)
    assert [len(cell.tuned.earlier) > 0 for cell in tuned.cells if cell.tuned] == [True]
    # finals are held whatever the budget
    assert [cell.tuned.best.phase for cell in tuned.cells if cell.tuned and cell.tuned.best] == ["winner"]
    assert (out / "mm.over.1.mdh").read_text(encoding="utf-8").startswith("// mine")
    assert _right(tuned.kernel(), 10)


def test_one_open_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--at`: candidates are legal for the range, and judged and timed at one size."""
    (tmp_path / "mm.c").write_text(PARAMETERS, encoding="utf-8")
    file, out = str(tmp_path / "mm.c"), tmp_path / "out"
    given = ["-D", "M=1..40", "-D", "N=16", "--device", "c", "-o", str(out)]
    assert run(["tune", file, *given, "--at", "M=9", "--trials", "2"]) == 0
    best = out / "mm.this-cpu.mdh"
    assert "// sizes: N=16 M=9 of 1..40\n" in best.read_text(encoding="utf-8")
    kernel = mdh.compile(file, str(best), "c", defines={"N": 16, "M": "1..40"})
    assert all(_right(kernel, size) for size in (1, 9, 40))
    # its record can be replayed for the same size alone
    replay = ["tune", file, *given[:4], "-o", str(out), "--replay", str(out / "mm.this-cpu.jsonl"), "--at"]
    assert run([*replay, "M=9"]) == 0
    assert run([*replay, "M=10"]) == 1
    assert "F197" in capsys.readouterr().err
    # another size is another tuning: the files of the first stay
    record = (out / "mm.this-cpu.jsonl").read_bytes()
    tuned = mdh.tune(
        file, device="c", trials=1, defines={"N": 16, "M": mdh.open(1, 40)}, at={"M": 30}, out=out
    )
    assert (out / "mm.this-cpu.jsonl").read_bytes() == record
    assert tuned.files["schedule"] != str(best)
    assert _right(tuned.kernel(), 40)
    capsys.readouterr()


def test_a_case_is_tuned_at_the_size_that_chooses_it(tmp_path: Path) -> None:
    case = "over M={r} {{ 1: (de-)comp( ?t{{{t}}}, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ ) }}\n"
    table = Source("t", case.format(r="2..8", t="1,2") + case.format(r="9..40", t="4,8"))
    tuned = mdh.tune(
        Source("mm.c", PARAMETERS), table, "c", trials=4, defines={"N": 16, "M": 30}, out=tmp_path
    )
    assert {dict(t.candidate.values)["?t"] for t in tuned.trials if t.candidate.values} <= {4, 8}
    assert _right(tuned.kernel(), 40)


def test_a_budget_that_ends_before_anything_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mm.c").write_text(PARAMETERS, encoding="utf-8")
    words = ["--over", "M=8..11", "-D", "N=16", "--device", "c", "--budget", "0.01s", "-o", str(tmp_path)]
    assert run(["tune", str(tmp_path / "mm.c"), *words]) in (0, 3)
    said = capsys.readouterr()
    # a quick machine measures the first candidate all the same
    assert "over.mdh" in said.out or "error[F195]: M=9..11: the time was up after" in said.err
