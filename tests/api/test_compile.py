"""C functions as callables: sizes, outputs, notes, foreign arrays, errors with places."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mdh

SCALE = mdh.Source(
    "scale.c",
    "void scale(int n, float s, const float A[n], float B[n]) {\n"
    "  for (int i = 0; i < n; i++)\n"
    "    B[i] = s * A[i];\n"
    "}\n",
)
SPLIT = mdh.Source(
    "split.c",
    "void split(const float A[8], float P[8], float Q[8]) {\n"
    "  for (int i = 0; i < 8; i++) {\n"
    "    P[i] = A[i] + 1.0f;\n"
    "    Q[i] = A[i] - 1.0f;\n"
    "  }\n"
    "}\n",
)


def test_each_tuple_of_sizes_is_built_once() -> None:
    kernel = mdh.compile(SCALE)
    assert (kernel.parameters, kernel.sizes) == (("n", "s", "A", "B"), ("n",))
    for n in (8, 5, 8):
        a, b = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
        assert kernel(n, 2.0, a, b) is b
        assert (b == 2 * a).all()
    assert set(kernel.variants) == {(8,), (5,)}
    assert "kernel" in kernel.specialise(n=8).source


def test_bound_sizes_build_at_once() -> None:
    kernel = mdh.compile(SCALE, defines={"n": 8})
    assert kernel.sizes == () and set(kernel.variants) == {()}
    a, b = np.ones(8, np.float32), np.zeros(8, np.float32)
    kernel(np.int64(8), np.float32(3), a, b)
    assert (b == 3).all()


def test_several_outputs_are_a_tuple() -> None:
    a, p, q = np.ones(8, np.float32), np.zeros(8, np.float32), np.zeros(8, np.float32)
    out = mdh.compile(SPLIT)(a, p, q)
    assert out[0] is p and out[1] is q
    assert (p == 2).all() and (q == 0).all()


def test_strided_inputs_are_copied_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    a, b = np.arange(16, dtype=np.float32)[::2], np.zeros(8, np.float32)
    mdh.compile(SCALE, defines={"n": 8})(8, 2.0, a, b)
    assert (b == 2 * a).all()
    assert capsys.readouterr().err == "mdh: `A` is not contiguous: a copy is used\n"


def test_other_libraries_share_their_memory() -> None:
    class Capsule:
        def __init__(self, array: np.ndarray) -> None:
            self.array = array

        def __dlpack__(self, **options: object) -> object:
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    a, b = np.ones(8, np.float32), bytearray(32)
    held = np.zeros(8, np.float32)
    mdh.compile(SCALE, defines={"n": 8})(8, 2.0, Capsule(a), Capsule(held))
    assert (held == 2).all()
    view = memoryview(b).cast("f")
    mdh.compile(SCALE, defines={"n": 8})(8, 2.0, a, view)
    assert list(view) == [2.0] * 8


def test_schedules_and_holes(tmp_path: Path) -> None:
    path = tmp_path / "s.mdh"
    path.write_text("1: (de-)comp( ?t{2,4} ) ( ^ ; ^ ) ( BLK.x )\n")
    plan = mdh.check(SCALE, path, "a100", defines={"n": 8}, holes={"t": 4})
    assert "(de-)comp( 4 )" in plan.text
    a, b = np.ones(8, np.float32), np.zeros(8, np.float32)
    mdh.compile(SCALE, path, defines={"n": 8}, holes={"t": 2})(8, 2.0, a, b)
    assert (b == 2).all()


def test_the_hook_sees_each_arrow() -> None:
    seen: list[str] = []
    mdh.compile(SCALE, defines={"n": 8}, hook=lambda stage, value, seconds: seen.append(stage))
    assert seen == ["program", "validation", "schedule", "plan", "kernel", "text", "build"]


def test_errors_show_their_place() -> None:
    with pytest.raises(mdh.Failed) as failed:
        mdh.check("no.c", machine="a100")
    assert failed.value.__notes__ and "error[F101]" in failed.value.__notes__[0]


def test_every_wrong_argument_is_reported() -> None:
    with pytest.raises(mdh.Failed) as failed:
        mdh.compile(SCALE)(8, "2", np.ones(7, np.float32), np.ones(8))
    assert [d.code for d in failed.value.diagnostics] == ["A102", "A104", "A103"]


def test_the_functions_are_there_whatever_was_imported_before() -> None:
    """No folder of the package has the name of a function, else importing a module of it would hide that."""
    code = "import mdh.checker.run, mdh.tuner.start, mdh; print(mdh.check.__module__, mdh.tune.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "mdh.api.compile mdh.api.tune\n"


def test_unknown_names() -> None:
    with pytest.raises(AttributeError):
        _ = mdh.nothing  # type: ignore[attr-defined]
