"""Arguments of the API that no message can show, or that are of no type that it takes."""

from fractions import Fraction

import numpy as np
import pytest

import mdh
from tests.api.test_compile import SCALE

LONG = 10**5000
"""More digits than Python writes out."""


class Moody:
    """An array whose methods fail in ways of their own."""

    def __getattr__(self, name: str) -> None:
        raise KeyError(name) if "array" in name else AttributeError(name)

    def __repr__(self) -> str:
        raise KeyError("repr")


@pytest.mark.parametrize("option", ["function", "hook", "machine", "target"])
@pytest.mark.parametrize("value", [LONG, Moody()], ids=["long", "moody"])
def test_options_that_cannot_be_written(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=rf"^{option} takes .*, not a value of the type `(int|Moody)`"):
        mdh.check(SCALE, **{"machine": "generic-cpu", "defines": {"n": 8}, option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("bound", [{"n": Fraction(LONG, 3)}, {LONG: 4}], ids=["value", "name"])
def test_bindings_that_cannot_be_written(bound: dict[object, object]) -> None:
    with pytest.raises(mdh.Failed) as failed:
        mdh.check(SCALE, machine="generic-cpu", defines=bound)  # type: ignore[arg-type]
    assert [d.code for d in failed.value.diagnostics] == ["F108"]


@pytest.mark.parametrize(("part", "source"), [("name", mdh.Source(5, "")), ("text", mdh.Source("f.c", b""))])  # type: ignore[arg-type]
def test_sources_of_other_types(part: str, source: mdh.Source) -> None:
    with pytest.raises(TypeError, match=f"^the {part} of file takes a str"):
        mdh.check(source, machine="generic-cpu")


def test_a_source_called_as_no_file_can_be() -> None:
    with pytest.raises(mdh.Failed, match=r"^F103: no file can be called"):
        mdh.check(mdh.Source("a\0b.c", SCALE.text), machine="generic-cpu")


def test_a_text_where_a_file_is_named() -> None:
    with pytest.raises(mdh.Failed, match=r"^F103: the option file names a file") as failed:
        mdh.check(SCALE.text + "\n", machine="generic-cpu")
    assert "mdh.Source" in (failed.value.diagnostics[0].help or "")


@pytest.mark.parametrize(
    ("scalar", "array", "code"), [(Fraction(LONG, 3), None, "A109"), (1, Moody(), "A102")]
)
def test_arguments_that_cannot_be_written(scalar: object, array: object, code: str) -> None:
    scale = mdh.compile(SCALE, device="c", defines={"n": 8})
    one = np.ones(8, np.float32)
    with pytest.raises(mdh.Failed) as failed:
        scale(8, scalar, one if array is None else array, one.copy())
    assert [d.code for d in failed.value.diagnostics] == [code]


@pytest.mark.parametrize("goal", ["trials", "until_speedup", "budget", "jobs"])
def test_goals_that_cannot_be_written(goal: str) -> None:
    with pytest.raises(mdh.Failed) as failed:
        mdh.tune(SCALE, **{goal: LONG if goal == "jobs" else -LONG})  # type: ignore[arg-type]
    assert [d.code for d in failed.value.diagnostics] == ["F190" if goal == "budget" else "F196"]
