"""`mdh.tune`: from Python to a callable kernel, with the messages of the verb."""

import asyncio
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mdh
from mdh.results.trial import Trial
from mdh.results.tuning import RunProgress

ADD = mdh.Source(
    "add.c",
    "void add(const float A[N], float C[N]) {\n  for (int i = 0; i < N; i++)\n    C[i] = A[i] + 1;\n}\n",
)
SCHEDULE = mdh.Source(
    "s.mdh", "1: (de-)comp( ?bm{32,64} ) ( ^ ; ^ ) ( BLK.x )\n2: (de-)comp( 1 ) ( ^ ; ^ ) ( FOR.1 )\n"
)


@pytest.fixture
def out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "out"


def test_from_python_to_a_kernel(out: Path) -> None:
    seen: list[RunProgress] = []

    def watch(now: RunProgress, trial: Trial | None) -> None:
        seen.append(now)

    tuned = mdh.tune(ADD, SCHEDULE, "opencl:0", trials=3, defines={"N": 256}, out=out, watch=watch)
    assert "?" not in tuned.schedule
    assert tuned.seconds > 0
    assert tuned.speedup is not None
    assert [t.phase for t in tuned.trials].count("quick") == 3
    assert Path(tuned.files["schedule"]).parent == out
    assert seen[-1].phase == "finals"
    assert repr(tuned).startswith("<mdh.Tuning add on opencl:0: ")
    assert tuned.source in Path(tuned.files["kernel"], "add.cl").read_text()
    assert "<iframe" in tuned._repr_html_()
    a, c = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    tuned.kernel()(a, c)
    np.testing.assert_array_equal(c, a + 1)


def test_inside_an_event_loop(out: Path) -> None:
    """As in notebooks."""

    async def cell() -> Any:
        return mdh.tune(ADD, SCHEDULE, trials=1, defines={"N": 64}, out=out)

    assert asyncio.run(cell()).trials


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"budget": "soon"}, "F190"), ({"budget": 0}, "F190"), ({"trials": 0}, "F196"),
        ({"jobs": 5000, "trials": 1}, "F196"),
        ({"until_speedup": 1.0}, "F196"), ({"sampler": "tp", "trials": 1}, "F180"),
        ({"device": "gpu", "trials": 1}, "D110"),
    ],
)  # fmt: skip
def test_wrong_options_have_codes(options: dict[str, Any], code: str, out: Path) -> None:
    with pytest.raises(mdh.Failed) as refused:
        mdh.tune(ADD, SCHEDULE, defines={"N": 256}, out=out, **options)
    assert refused.value.diagnostics[0].code == code


@pytest.mark.parametrize(
    ("option", "value"), [("budget", [1]), ("trials", "3"), ("defines", None), ("schedule", 3), ("holes", 1)]
)
def test_wrong_python_types(option: str, value: Any, out: Path) -> None:
    with pytest.raises(TypeError, match="takes"):
        mdh.tune(ADD, **{"schedule": SCHEDULE, "defines": {"N": 8}, "out": out, option: value})


def test_the_folder_is_the_function() -> None:
    assert "until_speedup" in inspect.signature(mdh.tune).parameters
