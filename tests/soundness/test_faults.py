"""The planted faults of scripts/soundness fit into the modules that they change."""

import inspect

import pytest

from tests.soundness.faults import FAULTS, find


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_replaces_a_function_by_one_of_the_same_arguments(fault: str) -> None:
    for module, name, new in FAULTS[fault]():
        positional: list[None] = []
        named: dict[str, None] = {}
        for p in inspect.signature(getattr(module, name)).parameters.values():
            if p.kind is p.KEYWORD_ONLY:
                named[p.name] = None
            elif p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD):
                positional.append(None)
        inspect.signature(new).bind(*positional, **named)


@pytest.mark.parametrize(
    ("fault", "programs"),
    [("the last iteration is forgotten", 4), ("updates are joined past what lies between", 8)],
)
def test_a_fault_makes_a_program_wrong(fault: str, programs: int) -> None:
    assert find(fault, range(programs)).detail.startswith("wrong")
