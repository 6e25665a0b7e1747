"""The picture of `mdh explain --svg`: well-formed, within its frame; the committed ones are what it makes."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mdh.cli.main import run
from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.report.picture.still import still_picture
from tests.report.test_ownership import planned_texts
from tests.support.pictures import PICTURES
from tests.support.random_programs import random_program
from tests.support.random_schedules import random_schedule
from tests.support.source_tree import PACKAGE

SVG = "{http://www.w3.org/2000/svg}"


def judged(text: str) -> ElementTree.Element:
    """Nothing is loaded, no script is in it, and every shape lies in the frame."""
    tree = ElementTree.fromstring(text)
    assert not re.search(r"<script|href|url\(|@import", text)
    wide, high = (float(tree.attrib[name]) for name in ("width", "height"))
    for one in tree.iter(f"{SVG}rect"):
        left, top = float(one.attrib.get("x", 0)), float(one.attrib.get("y", 0))
        assert left >= -0.1 and left + float(one.attrib["width"]) <= wide + 1.3
        assert top >= -0.1 and top + float(one.attrib["height"]) <= high + 1.3
    return tree


@pytest.mark.parametrize("name", PICTURES)
def test_committed_pictures_are_what_the_command_makes(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new", "matmul", "--steps"]) == 0
    assert run(["explain", *PICTURES[name], "--svg", "out.svg"]) == 0
    text = Path("out.svg").read_text(encoding="utf-8")
    judged(text)
    assert text == (PACKAGE / "docs" / "pictures" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("machine", ["generic-cpu", "h200"])
@pytest.mark.parametrize("seed", range(12))
def test_random_schedules(seed: int, machine: str) -> None:
    program = read_program(random_program(seed).source)
    here = load_machine(machine)
    plan = planned_texts(program, random_schedule(program, here, seed), machine, here.targets[0])
    if plan is None:
        pytest.skip("not legal")
    tree = judged(still_picture(plan))
    said = [one.text or "" for one in tree.iter(f"{SVG}text")]
    drawn = {name for s in plan.stages for name in s.stage.read | s.stage.written}
    assert all(any(row.startswith(f"{name}  ") for row in said) for name in drawn)


def test_cells_are_the_parts_of_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A 4 x 4 chessboard has eight dark fields, and one dimension alone every second strip."""
    monkeypatch.chdir(tmp_path)
    steps = [
        "1: (de-)comp( 8, 8 ) ( ^ ; ^ ) ( BLK.y, BLK.x )",
        "2: (de-)comp( 1, 1 ) ( ^ ; ^ ) ( FOR.1, FOR.2 )",
    ]
    Path("f.mdh").write_text("\n".join(["target h200", *steps, ""]))
    assert run(["explain", "transpose", "-s", "f.mdh", "-D", "M=32", "-D", "N=32", "--svg", "f.svg"]) == 0
    tree = judged(Path("f.svg").read_text(encoding="utf-8"))
    kinds = [one.attrib.get("class", "") for one in tree.iter(f"{SVG}rect")]
    assert sum(k == "cell even blk other" for k in kinds) == 16


def test_a_refused_schedule_has_no_picture_and_is_told_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.mdh").write_text("target h200\n1: (de-)comp( 128, 4096, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n")
    sizes = ["-D", "M=512", "-D", "N=512", "-D", "K=64"]
    assert run(["explain", "matmul", "-s", "bad.mdh", *sizes, "--svg", "p.svg"]) == 1
    assert "p.svg is not written: the picture is of a legal schedule" in capsys.readouterr().err
    assert not Path("p.svg").exists()
