"""A small number of what `scripts/soundness` runs: programs through the proof, on device `c`, expressions."""

from pathlib import Path

import pytest

from tests.soundness import sanitized
from tests.soundness.batch import Bench, Row, Setting
from tests.soundness.bits import compared_bits
from tests.soundness.campaign import Part, summary
from tests.soundness.data import elements
from tests.soundness.expressions import PER, random_expressions
from tests.soundness.faults import find
from tests.soundness.generator import NATURAL_FROM, TURNED_FROM, VARYING_FROM, random_statements
from tests.soundness.page import page, rows_of, seeds_text
from tests.soundness.shrink import legal, shrunk
from tests.soundness.statements import FORMS
from tests.soundness.tree import Tree, text_of
from tests.soundness.trial import accepted
from tests.soundness.verdict import Verdict
from tests.support.native import compiler

PROGRAMS, EXECUTED, EXPRESSIONS = range(1000, 1150), range(2000, 2025), range(300, 330)
VARYING = range(VARYING_FROM + 5000, VARYING_FROM + 5080)
TURNED = range(TURNED_FROM + 5000, TURNED_FROM + 5040)
NATURAL = range(NATURAL_FROM + 5000, NATURAL_FROM + 5010)


def _rows(setting: Setting, seeds: range) -> list[Row]:
    return [Row(s, v.kind, v.detail) for s, v in Bench(setting).verdicts(seeds).items()]


def test_accepted_programs_mean_what_c_says() -> None:
    rows = _rows(Setting(), PROGRAMS)
    assert not [r for r in rows if r.verdict.bad]
    kinds, codes = summary(rows)
    assert kinds["equal"] >= 0.6 * len(rows), (kinds, codes)


def test_programs_whose_bounds_vary_mean_what_c_says() -> None:
    rows = _rows(Setting(), VARYING)
    assert not [r for r in rows if r.verdict.bad]
    kinds, codes = summary(rows)
    assert kinds["equal"] >= 0.3 * len(rows), (kinds, codes)


def test_programs_that_carry_values_mean_what_c_says() -> None:
    rows = _rows(Setting(), TURNED)
    assert not [r for r in rows if r.verdict.bad]
    kinds, codes = summary(rows)
    assert kinds["equal"] >= 0.3 * len(rows), (kinds, codes)


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_natural_programs_mean_what_c_says() -> None:
    rows = _rows(Setting("c", schedules=True), NATURAL)
    assert not [r for r in rows if r.verdict.bad]
    kinds, codes = summary(rows)
    assert kinds["equal"] >= 0.4 * len(rows), (kinds, codes)


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_schedules_of_programs_whose_bounds_vary() -> None:
    assert not [r for r in _rows(Setting("c", schedules=True), VARYING[:40]) if r.verdict.bad]


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_devices_and_compilers_mean_the_same() -> None:
    assert not [r for r in _rows(Setting("c"), EXECUTED) if r.verdict.bad]
    assert not [r for r in _rows(Setting(native=True), PROGRAMS[:60]) if r.verdict.bad]


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_sanitizers_report_what_is_wrong_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    good = _rows(Setting("c", sanitized=True), EXECUTED[:8])
    assert not [r for r in good if r.verdict.bad]
    assert any(r.kind == "equal" for r in good)
    # a kernel that gets one byte less of every array than it touches
    monkeypatch.setattr(sanitized, "room_of", lambda a: a.nbytes - 1)
    bad = [r for r in _rows(Setting("c", sanitized=True), EXECUTED[:8]) if r.verdict.bad]
    assert len(bad) == sum(r.kind == "equal" for r in good)
    assert any("heap-buffer-overflow" in r.detail for r in bad)


@pytest.mark.skipif(compiler() is None, reason="no C compiler here")
def test_expressions_have_the_compilers_bits() -> None:
    tally = compared_bits([random_expressions(s) for s in EXPRESSIONS], None)
    assert not tally.differences, tally.differences[0][1:]
    assert tally.equal["interpreter"] == PER * len(EXPRESSIONS)


@pytest.mark.parametrize(
    "fault", ["no proof at all", "the reads of starts are dropped", "conditions are dropped"]
)
def test_planted_faults_are_found(fault: str) -> None:
    assert find(fault, range(100)).seed is not None


def test_a_seed_is_one_program() -> None:
    texts = [text_of(random_statements(s)) for s in range(50)]
    assert texts == [text_of(random_statements(s)) for s in range(50)]
    assert len(set(texts)) == 50
    assert len(FORMS) > 8


def test_failures_are_made_small() -> None:
    """The smallest text that still has a condition on data is one loop around one branch."""

    def branches(tree: Tree) -> bool:
        return "if (" in text_of(tree) and not isinstance(accepted(tree), Verdict)

    tree = next(t for t in map(random_statements, range(1000)) if branches(t))
    small = shrunk(tree, branches)
    assert legal(small) and branches(small)
    assert text_of(small).count("\n") < 14
    assert all(elements(p, small.sizes) < 10 for n, p in small.params.items() if p.extents == ("N",))


def test_parts_go_on_where_they_ended(tmp_path: Path) -> None:
    part = Part(tmp_path, Setting("c"))
    part.append([Row(1, "equal"), Row(2, "refused", "C150"), Row(4, "equal")])
    with part.path.open("a", encoding="utf-8") as file:
        file.write('{"seed": 5, "ki')
    assert sorted(part.rows()) == [1, 2, 4]
    assert seeds_text(rows_of(part.path)) == "1–2, 4–4"
    text = page(tmp_path)
    assert "| c | 3 | 1–2, 4–4 | 66.7% | 2 | 1 |" in text
    assert "C150" in text


def test_the_page_keeps_what_a_folder_has_nothing_of(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    Part(one, Setting("c")).append([Row(1, "equal"), Row(2, "refused", "C150")])
    (one / "notes.json").write_text('{"a checker": "0 errors"}')
    Part(other, Setting("none")).append([Row(7, "refused", "C113 C150")])
    before = page(one)
    text = page(other, before)
    assert "| c | 2 | 1–2 |" in text
    assert "| none | 1 | 7–7 |" in text
    assert "| part | C113 | C150 |" in text and "| c | 0 | 1 |" in text and "| none | 1 | 1 |" in text
    assert "- a checker: 0 errors" in text
    assert page(tmp_path / "nothing", before) == before
