"""Every rule refuses its smallest schedule, at the place that is wrong."""

import pytest

from mdh.diagnostics import Diagnostic
from tests.check.rule_cases import CASES
from tests.check.rule_cases.case import Case
from tests.check.schedules import refused
from tests.support.source_tree import ROOT


def place(diagnostic: Diagnostic) -> str:
    """Code, line and column of the primary label."""
    span = diagnostic.labels[0].span
    return f"{diagnostic.code} {span.line}:{span.column}"


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.found[0][:4])
def test_refusal(case: Case) -> None:
    found = refused(case.program, case.text, case.machine, case.target, deterministic=case.deterministic)
    assert [place(d) for d in found] == case.found
    for diagnostic in found:
        assert diagnostic.help, diagnostic
        assert any(c.isdigit() or c == "`" for c in diagnostic.headline), diagnostic


def test_every_rule_is_shown() -> None:
    shown = {place.split()[0] for case in CASES for place in case.found}
    # K100 is about machines; no C text leads to K134, which tests/reject shows of programs made otherwise
    assert {p.stem for p in (ROOT / "mdh" / "docs" / "codes").glob("K*.md")} - shown <= {"K100", "K134"}
