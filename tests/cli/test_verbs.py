"""The verbs in one process: results, remarks, files and exit codes."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mdh.cli.main import run
from tests.support.source_tree import ROOT

SCALE = """void scale(const float A[8], float B[8]) {
  for (int i = 0; i < 8; i++)
    B[i] = 2.0f * A[i];
}
"""
SMALL = ["-D", "M=37", "-D", "N=29", "-D", "K=41"]
MATMUL = str(ROOT / "inputs_c" / "matmul.c")


@pytest.fixture
def scale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scale.c").write_text(SCALE)
    (tmp_path / "scale.mdh").write_text("target a100\n\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n")
    return tmp_path


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    value: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (value["schema"], value["ok"], value["verb"]) == ("mdh.result/1", True, words[0])
    return value


def test_check_takes_the_machine_from_the_header(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "scale.c", "--schedule", "scale.mdh"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("ok: schedule of scale")
    assert err == ""


def test_check_writes_the_default_schedule(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "scale.c", "--machine", "a100", "-o", "found.mdh"]) == 0
    capsys.readouterr()
    assert run(["check", "scale.c", "--schedule", "found.mdh"]) == 0
    assert capsys.readouterr().out.startswith("ok: schedule of scale")
    assert run(["fmt", "--check", "found.mdh"]) == 0


def test_check_as_data(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, "check", "scale.c", "--machine", "a100")
    assert (value["program"], value["machine"], value["target"], value["default"]) == (
        "scale",
        "a100",
        "cuda",
        True,
    )


def test_a_schedule_of_some_stages_is_said_to_be_one(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.c").write_text(
        "void two(const float a[8], float x[8], float y[8]) {\n"
        "  for (int i = 0; i < 8; i++)\n    x[i] = a[i] + 1.0f;\n"
        "  for (int i = 0; i < 8; i++)\n    y[7 - i] = x[i] * 2.0f;\n}\n"
    )
    Path("y.mdh").write_text("stage y {\n  1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n}\n")
    assert run(["compile", "two.c", "--schedule", "y.mdh", "--machine", "a100"]) == 0
    out, err = capsys.readouterr()
    said = "mdh: the schedule has no section for x: the default is used there; -o writes the whole\n"
    assert err == said and "// 1: (de-)comp( 4 )" in out
    assert run(["check", "two.c", "--schedule", "y.mdh", "--machine", "a100"]) == 0
    assert capsys.readouterr().out.startswith("ok: schedule (default for x) of two")
    value = _json(capsys, "check", "two.c", "--schedule", "y.mdh", "--machine", "a100")
    assert (value["default"], value["default_stages"]) == (True, ["x"])
    assert run(["check", "two.c", "--machine", "a100"]) == 0
    assert capsys.readouterr().out.startswith("ok: default schedule of two")


def test_an_interrupted_write_leaves_nothing(scale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = sorted(p.name for p in scale.iterdir())
    monkeypatch.setattr("mdh.cli.files.os.replace", interrupt)
    assert run(["check", "scale.c", "--machine", "a100", "-o", "new.mdh"]) == 130
    assert sorted(p.name for p in scale.iterdir()) == before


def test_a_written_link_stays_a_link(scale: Path) -> None:
    Path("link.mdh").symlink_to("real.mdh")
    assert run(["check", "scale.c", "--machine", "a100", "-o", "link.mdh"]) == 0
    assert Path("link.mdh").is_symlink()
    assert Path("real.mdh").read_text(encoding="utf-8").startswith("target a100")


def test_what_is_no_file_is_not_replaced(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert run(["check", "scale.c", "--machine", "a100", "-o", "pipe"]) == 0
    assert os.read(reader, 1 << 16).startswith(b"target a100")
    os.close(reader)
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(
    "words",
    [
        ["check", "scale.c", "--machine", "a100", "-o", "scale.c"],
        ["check", "scale.c", "--schedule", "scale.mdh", "-o", "./scale.mdh"],
        ["compile", "scale.c", "--schedule", "scale.mdh", "-o", "."],
        ["compile", "main.c", "--machine", "a100", "-o", "."],
        ["run", "scale.c", "--device", "opencl:0", "--input", "B=B.npy", "-o", "."],
    ],
    ids=" ".join,
)
def test_what_is_read_is_not_replaced(
    words: list[str], scale: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("main.c").write_text(SCALE)
    np.save("B.npy", np.zeros(8, np.float32))
    before = {p.name: p.read_bytes() for p in scale.iterdir()}
    assert run(words) == 1
    assert "F111" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in scale.iterdir()} == before


def test_what_is_read_may_be_written_again(scale: Path) -> None:
    assert run(["compile", "scale.c", "--schedule", "scale.mdh", "-o", "out"]) == 0
    assert run(["compile", "out/scale.c", "--schedule", "out/scale.mdh", "-o", "out"]) == 0


@pytest.mark.parametrize("name", ["Makefile", "main.c", "manifest.json"])
def test_what_another_wrote_is_not_replaced(
    name: str, scale: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("mine").mkdir()
    (Path("mine") / name).write_text("{}")
    assert run(["compile", "scale.c", "--schedule", "scale.mdh", "-o", "mine"]) == 1
    assert f"`mine/{name}` cannot be written" in capsys.readouterr().err
    assert [p.name for p in Path("mine").iterdir()] == [name]


def test_a_folder_of_mdh_takes_another_compilation(scale: Path) -> None:
    for target in ("cuda", "opencl", "cuda"):
        words = ["compile", "scale.c", "--schedule", "scale.mdh", "--target", target, "-o", "out"]
        assert run(words) == 0
        assert target in (Path("out") / "manifest.json").read_text()


def test_arrays_are_replaced_in_one_move(scale: Path) -> None:
    words = [
        "run",
        "scale.c",
        "--schedule",
        "scale.mdh",
        "--device",
        "opencl:0",
        "--repeat",
        "0",
        "-o",
        "out",
    ]
    assert run(words) == 0
    os.link("out/B.npy", "kept.npy")
    before = Path("kept.npy").read_bytes()
    assert run([*words, "--seed", "5"]) == 0
    assert Path("kept.npy").read_bytes() == before != Path("out/B.npy").read_bytes()
    assert sorted(p.name for p in Path("out").iterdir()) == ["B.npy", "scale.mdh"]


@pytest.mark.parametrize("stage", ["kernel", "text"])
def test_check_dumps_what_it_reaches(stage: str, scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "scale.c", "--schedule", "scale.mdh", "--dump", stage]) == 2
    assert f"`check` stops at the plan, before there is a {stage}" in capsys.readouterr().err
    assert run(["check", "scale.c", "--schedule", "scale.mdh", "--dump", "all"]) == 0
    shown = capsys.readouterr().err
    assert "--- plan" in shown and "--- kernel" not in shown


def test_holes_are_set(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.mdh").write_text("1: (de-)comp( ?t{2,4} ) ( ^ ; ^ ) ( BLK.x )\n")
    value = _json(capsys, "check", "scale.c", "--schedule", "open.mdh", "--set", "t=2", "--machine", "a100")
    assert "(de-)comp( 2 )" in value["schedule"]


def test_compile_prints_the_kernel(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "scale.c", "--schedule", "scale.mdh"]) == 0
    assert "__global__" in capsys.readouterr().out
    assert run(["compile", "scale.c", "--schedule", "scale.mdh", "--target", "opencl"]) == 0
    assert "__kernel" in capsys.readouterr().out


def test_compile_writes_the_same_folder_twice(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for folder in ("one", "two"):
        assert run(["compile", "scale.c", "--schedule", "scale.mdh", "-o", folder]) == 0
    names = sorted(p.name for p in Path("one").iterdir())
    assert {"manifest.json", "scale.cu", "scale.h", "scale.mdh"} <= set(names)
    for name in names:
        assert (Path("one") / name).read_bytes() == (Path("two") / name).read_bytes()
    manifest = json.loads((Path("one") / "manifest.json").read_text())
    assert manifest["schema"] == "mdh.manifest/1"
    assert sorted(manifest["files"]) == names


def test_explain_shows_entries_without_a_machine(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "scale.c"]) == 0
    out = capsys.readouterr().out
    assert "1: (de-)comp( 8 ) ( ^ ; ^ ) ( ^ )" in out


def test_explain_shows_loops(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, "explain", "scale.c", "--schedule", "scale.mdh")
    rows = value["stages"][0]["loops"]
    assert (rows[0]["name"], rows[0]["parts"], rows[0]["tile"]) == ("BLK.x", 2, 4)
    assert value["stages"][0]["resources"][0]["blocks"] == 2


def test_explain_counts_what_each_stage_leaves(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("open.mdh").write_text("target a100\n\n1: (de-)comp( ?, ?, ^ ) ( ^,^ ; ^ ) ( BLK.y, BLK.x, ^ )\n")
    words = ["explain", MATMUL, *SMALL, "--schedule", "open.mdh", "--space"]
    assert run(words) == 0
    out = capsys.readouterr().out
    stages = [
        "every combination",
        "structurally legal",
        "  legal",
        "the cost model",
        "best, median, worst",
    ]
    assert [out.index(s) for s in stages] == sorted(out.index(s) for s in stages)
    assert max(map(len, out.splitlines())) <= 80
    value = _json(capsys, *words)
    model = value["model"]
    assert model["first"] + model["explored"] + model["aside"] == model["drawn"] > 0
    assert model["best"] <= model["median"] <= model["worst"]


def test_run_on_given_arrays(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save("a.npy", np.arange(8, dtype=np.float32))
    words = [
        "run",
        "scale.c",
        "--device",
        "opencl:0",
        "--input",
        "A=a.npy",
        "--check",
        "--repeat",
        "0",
        "-o",
        "out",
    ]
    assert run(words) == 0
    assert np.load("out/B.npy").tolist() == [2.0 * i for i in range(8)]
    assert "correct" in capsys.readouterr().out


def test_run_verifies_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    value = _json(capsys, "run", MATMUL, *SMALL, "--device", "opencl:0", "--check", "--repeat", "2")
    assert value["checked"] == ["exact", "random"]
    assert len(value["timing"]["warm"]) == len(value["timing"]["cold"]) == 2
    assert value["operations"] == 2 * 37 * 29 * 41


def test_dumps_go_to_stderr(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "scale.c", "--schedule", "scale.mdh", "--dump", "all", "--time"]) == 0
    out, err = capsys.readouterr()
    for stage in ("program", "schedule", "plan", "kernel", "text"):
        assert f"--- {stage}\n" in err
    assert out.strip() in err


def test_fmt_checks_and_formats(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("loose.mdh").write_text("1 :(de-)comp(4)(^;^)(BLK.x) // half\n")
    assert run(["fmt", "--check", "loose.mdh"]) == 1
    assert run(["fmt", "loose.mdh"]) == 0
    assert run(["fmt", "--check", "loose.mdh"]) == 0
    assert Path("loose.mdh").read_text() == "1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )  // half\n"
    capsys.readouterr()


def test_fmt_drops_what_says_nothing(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("said.mdh").write_text(
        "(de-)comp( 4 ) ( X:SM[1]@pad(0) ; ^@store(plain) ) ( BLK.x ) @order(grouped(1)) @stages(1)\n"
    )
    assert run(["fmt", "said.mdh"]) == 0
    assert Path("said.mdh").read_text() == "(de-)comp( 4 ) ( X:SM[1] ; ^ ) ( BLK.x )\n"
    capsys.readouterr()


def test_fmt_leaves_all_files_where_one_is_wrong(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("loose.mdh").write_text("1 :(de-)comp(4)(^;^)(BLK.x)\n")
    Path("wrong.mdh").write_text("1: (de-)comp( 4 \n")
    assert run(["fmt", "loose.mdh", "wrong.mdh"]) == 1
    assert Path("loose.mdh").read_text() == "1 :(de-)comp(4)(^;^)(BLK.x)\n"
    capsys.readouterr()


def test_devices_export_reads_back(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["devices", "--export", "here.toml", "--device", "opencl:0"]) == 0
    assert run(["check", "scale.c", "--machine", "here.toml"]) == 0
    value = _json(capsys, "devices")
    assert any(d["spec"] == "opencl:0" for d in value["devices"])
    assert any(m["name"] == "a100" for m in value["machines"])


@pytest.mark.parametrize("spec", ["c", "opencl:0"])
def test_what_run_writes_is_read(spec: str, scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", "scale.c", "--device", spec, "--repeat", "0", "-o", "out"]) == 0
    assert Path("out/scale.mdh").read_text().startswith("target this-cpu\n")
    target = spec.partition(":")[0]
    for words in (["--device", spec], ["--target", target], []):
        capsys.readouterr()
        assert run(["check", "scale.c", "--schedule", "out/scale.mdh", *words]) == 0
        out, err = capsys.readouterr()
        assert "is legal on this-cpu, " in out
        assert f"this-cpu, {target}" in out or not words
        assert ("`this-cpu` is the machine of " in err) == (not words)
    for verb in (["explain"], ["compile", "-o", "folder"]):
        assert run([*verb, "scale.c", "--schedule", "out/scale.mdh", "--device", spec]) == 0
    assert run(["compile", "scale.c", "--machine", "this-cpu", "--target", target, "--json"]) == 0
    assert run(["explain", "scale.c", "--device", spec]) == 0


def test_the_cpu_of_a_schedule_may_not_be_here(
    scale: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("there.mdh").write_text("target this-cpu\n\n1: (de-)comp( 4 ) ( ^ ; ^ ) ( BLK.x )\n")
    monkeypatch.setenv("MDH_OPENCL_PLATFORM", "none")
    monkeypatch.setenv("CC", "no-such-compiler")
    assert run(["check", "scale.c", "--schedule", "there.mdh"]) == 1
    err = capsys.readouterr().err
    assert "error[F150]: `this-cpu` is the CPU that a schedule was made on" in err
    assert "give the machine: --device SPEC, or --machine of a100" in err
    assert run(["check", "scale.c", "--schedule", "there.mdh", "--machine", "generic-cpu"]) == 0
    assert "target `this-cpu` is no machine known here; generic-cpu is used" in capsys.readouterr().err


def test_a_device_that_is_not_here_is_no_machine(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "scale.c", "--device", "c:3"]) == 1
    assert "error[D101]" in capsys.readouterr().err
    assert run(["check", "scale.c", "--device", "c", "--target", "cuda"]) == 2
    assert "has no target `cuda`" in capsys.readouterr().err


def test_doctor(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = _json(capsys, "doctor")["findings"]
    names = {f["name"] for f in first}
    assert {"python", "numpy", "devices opencl", "devices c", "devices cuda", "self-test opencl:0"} <= names
    # the second time tests are remembered
    assert run(["doctor"]) == 0
    out, err = capsys.readouterr()
    assert "testing" not in err
    assert next(f["detail"] for f in first if f["name"] == "self-test opencl:0") in out


def test_doctor_measures_the_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    found = {f["name"]: f for f in _json(capsys, "doctor", "--speed")["findings"]}
    told = found["speed opencl:0"]
    assert told["state"] == "ok"
    assert "GFLOP/s (fp32) a core" in told["detail"]


def test_a_schedule_without_steps_is_said_to_be_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mm.c").write_text((ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8"), encoding="utf-8")
    Path("empty.mdh").write_text("// nothing yet\n", encoding="utf-8")
    assert run(["check", "mm.c", "-s", "empty.mdh", "--machine", "a100"]) == 0
    assert "`empty.mdh` has no steps: the default schedule is used" in capsys.readouterr().err


def test_lines_that_end_in_carriage_returns_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mm.c").write_text((ROOT / "inputs_c" / "matmul.c").read_text(encoding="utf-8"), encoding="utf-8")
    Path("cr.mdh").write_bytes(b"// tiles\r(de-)comp( 16,16,^ ) ( ^,^ ; ^ ) ( BLK.y,BLK.x,^ )\r")
    assert run(["check", "mm.c", "-s", "cr.mdh", "--machine", "a100"]) == 0
    assert capsys.readouterr().out.startswith("ok: schedule of matmul (stages C; 2 steps)")


def test_fmt_as_data_is_one_object(scale: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["--stdout"], ["--diff"], ["--check"]):
        value = _json(capsys, "fmt", *words, "scale.mdh")
        assert value["changed"] == []
        assert value["schedules"] == {"scale.mdh": Path("scale.mdh").read_text(encoding="utf-8")}
