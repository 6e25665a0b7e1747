"""What other tools get: the record itself, a table, and T4 results."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from mdh.results.trial import Failure
from mdh.tuner.records.export import FORMATS, csv_text, export_text
from mdh.tuner.records.read import RecordSection, read_contents
from tests.tune.records.samples import header, trial, write

SECTION = RecordSection(header(N=32), (trial(0, 1e-3), trial(1), trial(2, 2e-3)))


def test_json_lines_are_a_record(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(export_text("jsonl", (SECTION, RecordSection(header(), ()))), encoding="ascii")
    assert read_contents(str(path)).sections == (SECTION, RecordSection(header(), ()))


def test_json_lines_of_a_record_are_its_bytes(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(path, 3)
    assert export_text("jsonl", read_contents(str(path)).sections) == path.read_text(encoding="ascii")


def test_csv_has_a_column_a_hole() -> None:
    rows = list(csv.DictReader(io.StringIO(export_text("csv", (SECTION,)))))
    assert [row["?bm"] for row in rows] == ["8", "16", "8"]
    assert [row["seconds"] for row in rows] == ["0.001", "", "0.002"]
    assert rows[1]["failure"] == "compile"
    assert rows[1]["message"] == 'ptxas: "µ" is\nno register'
    assert rows[0]["schedule"] == SECTION.trials[0].candidate.schedule
    assert rows[0]["started"] == "2025-06-15T15:06:40Z"


def _is_t4(value: dict[str, object]) -> bool:
    """What results-schema.json of TuningSchema 1.0.0 asks of a result."""
    times = value["times"]
    assert isinstance(value["configuration"], dict)
    assert isinstance(value["timestamp"], str)
    assert isinstance(value["objectives"], list)
    assert isinstance(times, dict)
    assert isinstance(times["runtimes"], list)
    assert all(isinstance(times[n], float) for n in times if n != "runtimes")
    assert set(times) == {"compilation_time", "runtimes", "framework", "search_algorithm", "validation"}
    assert isinstance(value["correctness"], int)
    assert isinstance(value["measurements"], list)
    assert all(set(m) == {"name", "value", "unit"} for m in value["measurements"])
    classes = {"timeout", "compile", "runtime", "correctness", "constraints", "correct"}
    return value["invalidity"] in classes


def test_t4_results() -> None:
    value = json.loads(export_text("t4", (SECTION,)))
    assert value["schema_version"] == "1.0.0"
    assert all(map(_is_t4, value["results"]))
    assert [r["invalidity"] for r in value["results"]] == ["correct", "compile", "correct"]
    assert value["results"][0]["measurements"][0] == {"name": "time", "value": 1.0, "unit": "ms"}
    assert value["results"][0]["times"]["runtimes"] == [1.0, 1.25, 0.5]


@pytest.mark.parametrize("failure", Failure)
def test_t4_knows_every_failure(failure: Failure) -> None:
    one = replace(trial(0), outcome=replace(trial(0).outcome, failure=failure))
    assert _is_t4(json.loads(export_text("t4", (RecordSection(header(), (one,)),)))["results"][0])


def test_bytes_that_are_no_text_and_moments_that_are_none() -> None:
    one = replace(trial(0), started=1e300, outcome=replace(trial(0).outcome, message="\udcb5"))
    for form in FORMATS:
        export_text(form, (RecordSection(header(), (one,)),)).encode("utf-8")


def test_a_carriage_return_ends_no_row() -> None:
    failed = replace(trial(3), outcome=replace(trial(3).outcome, message="a\rb\r\nc"))
    text = csv_text((RecordSection(header(), (failed,)),))
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["message"] for row in rows] == ["a\rb\r\nc"]
