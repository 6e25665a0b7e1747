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


WEIGHTS = mdh.Source(
    "f.c",
    "void f(const float w[3], const float x[3], float y[3]) {\n"
    "  for (int i = 0; i < 3; i++)\n    y[i] = w[i] * x[i];\n}\n",
)
ONES = np.ones(3, np.float32)


class Raises:
    def __array__(self) -> None:
        raise RuntimeError


class NoArray:
    def __array__(self) -> list[int]:
        return [1]


@pytest.mark.parametrize("option", ["constants", "patterns"])
@pytest.mark.parametrize(
    "value", [[1.0, 2.0, 3.0], None, "w.npy", 3, Raises(), NoArray(), Moody(), memoryview(ONES)]
)
def test_constants_that_are_no_arrays(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"^{option} are arrays"):
        mdh.check(WEIGHTS, machine="generic-cpu", **{option: {"w": value}})  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["constants", "patterns"])
@pytest.mark.parametrize("value", [ONES, None, "w", [("w", ONES)]], ids=["array", "none", "text", "list"])
def test_constants_without_names(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"^{option} takes a mapping"):
        mdh.check(WEIGHTS, machine="generic-cpu", **{option: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["constants", "patterns"])
@pytest.mark.parametrize(
    "value",
    [
        ONES.astype(object), ONES.astype(np.complex64), ONES.astype(str), np.zeros(3, "f4,f4"), ONES[:2],
        ONES[0], ONES[:0], np.zeros((3, 1), np.float32), np.broadcast_to(ONES[0], (10**6, 10**6)),
        np.ma.masked_array(ONES, [0, 1, 0]), np.zeros(3, "M8[s]"),
    ],
)  # fmt: skip
def test_arrays_that_are_no_constants(option: str, value: object) -> None:
    with pytest.raises(mdh.Failed, match="C127"):
        mdh.check(WEIGHTS, machine="generic-cpu", **{option: {"w": value}})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value",
    [ONES.astype(">f4"), np.ones((3, 2), np.float32, "F")[:, 0], ONES[::-1], np.ma.masked_array(ONES)],
    ids=["big", "strided", "backward", "unmasked"],
)
def test_arrays_of_other_layouts(value: object) -> None:
    plan = mdh.check(WEIGHTS, machine="generic-cpu", constants={"w": value})
    assert plan.program.params == ("x", "y")
