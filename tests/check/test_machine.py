"""Machine files: the shipped ones hold, a printed one reads back, wrong ones are refused in full."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from mdh import machine as machine_module
from mdh.device import machines
from mdh.diagnostics import Failed
from mdh.machine import load_machine, machine_names, print_machine, read_machine
from mdh.source import Source

A100 = print_machine(load_machine("a100"))


@pytest.mark.parametrize("name", machine_names())
def test_shipped_machines(name: str) -> None:
    machine = load_machine(name)
    assert machine.name == name
    assert read_machine(Source("m.toml", print_machine(machine))) == machine


def test_names() -> None:
    assert machine_names() == ("a100", "generic-cpu", "h100", "h200", "oclgrind", "rtx4090", "v100")


def test_by_path(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(print_machine(replace(load_machine("v100"), name="mine")))
    assert load_machine(path).name == "mine"
    assert load_machine(str(path)).name == "mine"


def codes(text: str) -> list[tuple[str, int]]:
    with pytest.raises(Failed) as failed:
        read_machine(Source("m.toml", text))
    return [(d.code, d.labels[0].span.line if d.labels else 0) for d in failed.value.diagnostics]


def test_unknown_name_suggests() -> None:
    with pytest.raises(Failed) as failed:
        load_machine("h20")
    (diagnostic,) = failed.value.diagnostics
    assert diagnostic.code == "F150"
    assert "did you mean" in diagnostic.help


def test_unknown_fields_are_refused_but_those_of_a_later_mdh() -> None:
    end = len(A100.splitlines()) + 1
    assert codes(A100 + "phase = 3\n") == [("F153", end)]
    assert codes(A100 + "[phase]\nx = 3\n") == [("F153", end)]
    assert codes(A100 + "clocks = 3\n") == [("F153", end)]
    later = A100.replace("machine/1", "machine/1.2")
    assert read_machine(Source("m.toml", later + "phase = 3\n")) == load_machine("a100")


def test_a_long_unknown_field_takes_no_time() -> None:
    """Names are compared, and looked for in the text."""
    name = "x" * 1_000_000
    start = time.perf_counter()
    assert codes(A100 + f"{name} = 3\n") == [("F153", len(A100.splitlines()) + 1)]
    assert time.perf_counter() - start < 1.0


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(Failed) as failed:
        load_machine(tmp_path / "none.toml")
    assert failed.value.diagnostics[0].code == "F151"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("units = 108", "units = = 108", [("F151", 7)]),
        ("machine/1", "machine/9", [("F152", 1)]),
        ("machine/1", "machine/1.0", [("F152", 1)]),
        ("units = 108", "units = -1", [("F153", 7)]),
        ("units = 108", "units = true", [("F153", 7)]),
        ("warp = 32", "wrap = 32", [("F153", 8)]),
        ("[2147483647, 65535, 65535]", "[1, 2]", [("F153", 11)]),
        ('["plain", "async"]', '["async"]', [("F154", 21)]),
        ('kind = "gpu"', 'kind = "tpu"', [("F154", 4)]),
        ('"sm_80"', '"ampere"', [("F154", 6)]),
    ],
)
def test_wrong_files(before: str, after: str, expected: list[tuple[str, int]]) -> None:
    assert before in A100
    assert codes(A100.replace(before, after)) == expected


def test_a_folder_that_cannot_be_read_is_not_taken_for_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine_module, "_FOLDER", tmp_path / "none")
    with pytest.raises(OSError, match="none"):
        machine_names()


def test_what_is_no_name_is_refused_before_a_device_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "list_devices", lambda: pytest.fail("devices were opened"))
    for text in ("", "a b", "-m"):
        with pytest.raises(Failed, match="F150"):
            machines.machine_called(text)
