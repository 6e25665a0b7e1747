"""Reports of the tuner from made-up trials: importance, text, JSON, the live line, the page."""

import json
import random
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from mdh.report.html import page
from mdh.report.html_charts import Roofline, roof_of
from mdh.report.html_frame import shared
from mdh.report.html_svg import AxisScale
from mdh.report.trials.axes import axes_of, parallel
from mdh.report.trials.table import script
from mdh.report.tune_importance import explained, sensitivities
from mdh.report.tune_json import tuned_json
from mdh.report.tune_text import progress_line, share_done, time_left, tuned_text
from mdh.results.goal import Ended
from mdh.results.trial import Candidate, Failure, Outcome, Trial, Value
from mdh.results.tuning import RunProgress, Sizes, Tuned
from mdh.results.variable import Metric, Variable
from mdh.tuner.conduct import best_point_of
from mdh.tuner.records.best import best
from tests.report.test_ownership import small_plan

VARIABLES = (
    Variable("?bm", Metric.TILE, (8, 16, 32), "i", 64),
    Variable("2.core.j", Metric.WORD, ("BLK.x", "FOR.1", "<script>")),
)


def trial(
    n: int, bm: Value, core: Value, seconds: float | None, *, phase: str = "quick", code: str = ""
) -> Trial:
    failure = None if seconds is not None else Failure.COMPILE
    outcome = Outcome(failure, code=code, message="no\nmore lines" if failure else "", warm=(seconds,) * 3
                      if seconds is not None else ())  # fmt: skip
    values = (("?bm", bm), ("2.core.j", core))
    return Trial(n, Candidate(f"k{bm}{core}", f"// {bm}\n", values), "tpe", phase, outcome, elapsed=float(n))


def tuned(trials: tuple[Trial, ...] = (), **changes: object) -> Tuned:
    right = [t for t in trials if t.outcome.seconds]
    best = min(right, key=lambda t: t.outcome.seconds or 0.0, default=None)
    whole = Tuned(
        "matmul", (("N", 64),), ("opencl:0",), "a <title>", "this-cpu", "opencl", "tpe", 0, VARIABLES,
        Sizes(9, 9), trials, (), best, None, None, (("K150", 3), ("duplicate", 2)), 75.0, Ended.TRIALS,
        (("schedule", "matmul.this-cpu.mdh"),),
    )  # fmt: skip
    whole = replace(whole, **changes)  # type: ignore[arg-type]
    return replace(
        whole, best_point=best_point_of(whole.best, whole.variables, (*whole.earlier, *whole.trials))
    )


def many() -> tuple[Trial, ...]:
    """bm decides, the core hardly does."""
    rng = random.Random(0)
    out = []
    for n in range(60):
        bm, core = rng.choice((8, 16, 32)), rng.choice(("BLK.x", "FOR.1"))
        seconds = 1e-3 * {8: 4.0, 16: 1.0, 32: 2.0}[bm] * rng.uniform(0.95, 1.05)
        out.append(trial(n, bm, core, None if n % 10 == 9 else seconds, code="D103"))
    return tuple(out)


def test_where_the_default_wins_the_own_best_is_the_records() -> None:
    """Not the one with the luckiest quick run: finals know better."""
    default = trial(9, 0, "", 1e-3, phase="final")
    default = replace(default, candidate=replace(default.candidate, values=()))
    quick = [trial(0, 8, "BLK.x", 2.0e-3), trial(1, 16, "BLK.x", 2.1e-3), trial(2, 32, "BLK.x", 2.5e-3)]
    finals = [trial(3, 8, "BLK.x", 2.3e-3, phase="final"), trial(4, 16, "BLK.x", 2.2e-3, phase="final")]
    found = tuned((*quick, *finals, default), best=default)
    assert found.best_point == finals[1] == best(t for t in found.trials if t.candidate.values)


def test_importance_finds_the_hole_that_matters() -> None:
    bm, core = sensitivities(tuned(many()))
    assert bm.value == 16
    assert bm.share is not None
    assert bm.share > 0.95
    assert core.share is not None
    assert core.share < 0.1
    assert bm.rival == 32
    assert bm.regret == pytest.approx(2.0, rel=0.1)


def test_importance_of_noise_is_none_whatever_the_number_of_values() -> None:
    rng = random.Random(1)
    shares = []
    for _ in range(200):
        numbers = [rng.gauss(0, 1) for _ in range(40)]
        shares.append(explained([numbers[i::10] for i in range(10)]) or 0.0)
    assert sum(shares) / len(shares) < 0.08


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0, 2.0], [3.0]]])
def test_too_few_trials_say_nothing(groups: list[list[float]]) -> None:
    assert explained(groups) is None


def test_equal_times_have_no_share() -> None:
    assert explained([[1.0] * 5, [1.0] * 5]) == 0.0


def test_text_of_a_run() -> None:
    base = trial(90, 1, "BLK.x", 8e-3)
    text = tuned_text(tuned((*many(), base), baseline=base))
    assert text.splitlines()[0] == "matmul on opencl:0 (a <title>)"
    compared = r"8\.20 × the device's default schedule \(8 ms against 976 µs timed quickly\)"
    assert re.search(rf"best +954 µs, {compared}", text)
    assert "55 right, 6 compile; not measured: 3 K150, 2 the same program as another" in text
    assert re.search(r"\?bm i +16 +\d+% +32, [12]\.\d\d × the time", text)
    assert "compile × 6, the first: [D103] no\n      more lines\n" in text
    assert text.endswith("  schedule  matmul.this-cpu.mdh\n")
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_noisy_machine_is_named() -> None:
    quiet = trial(0, 8, "BLK.x", 1e-3)
    noisy = replace(quiet, outcome=replace(quiet.outcome, warm=(1e-3, 1.1e-3, 1.3e-3, 1.5e-3, 1.6e-3)))
    assert "noisy" not in tuned_text(tuned((quiet,), best=quiet))
    found = tuned((noisy,), best=noisy)
    assert found.noise == pytest.approx(0.385, abs=0.01)
    assert "  noisy     its runs vary by 38%" in tuned_text(found)
    assert tuned_json(found)["noise"] == found.noise


def test_text_and_data_of_a_run_that_found_nothing() -> None:
    empty = tuned((), variables=(), ended=Ended.INTERRUPTED)
    assert "none: nothing was measured" in tuned_text(empty)
    assert tuned_json(empty)["best"] is None
    failed = tuned((trial(0, 8, "BLK.x", None),))
    assert "none: no candidate was right" in tuned_text(failed)
    json.dumps(tuned_json(failed), allow_nan=False)


def test_what_the_model_began_with_is_said() -> None:
    one = tuned(many(), learned=64)
    assert "constants fitted to 64 times of earlier runs" in tuned_text(one)
    assert tuned_json(one)["model"] == {"learned": 64}
    assert "model" not in tuned_text(tuned(many()))


def test_speedup_is_of_paired_times_where_there_are_some() -> None:
    fast, slow = trial(0, 8, "BLK.x", 1e-3), trial(1, 16, "BLK.x", 4e-3)
    finals = (trial(2, 8, "BLK.x", 2e-3, phase="final"), trial(3, 16, "BLK.x", 3e-3, phase="final"))
    quick = tuned((fast, slow), best=fast, baseline=slow)
    assert quick.speedup == pytest.approx(4.0)
    assert replace(quick, trials=(fast, slow, *finals)).speedup == pytest.approx(1.5)


def test_json_has_every_hole() -> None:
    whole = tuned_json(tuned(many()))
    assert [h["name"] for h in whole["holes"]] == ["?bm", "2.core.j"]
    assert whole["trials"]["failed"] == {"compile": 6}
    assert whole["failures"][0]["message"] == "no\nmore lines"
    json.dumps(whole, allow_nan=False)


def progress(**changes: object) -> RunProgress:
    now = RunProgress("search", 30.0, 10, ((Failure.TIMEOUT, 2),), 1e-3, 2e-3, 60.0, None)
    return replace(now, **changes)  # type: ignore[arg-type]


def test_the_live_line() -> None:
    assert progress_line(progress(), 30.0) == "best 1 ms (2.00 ×), 10 right, 2 timeout, 24 a minute, 30s left"
    assert progress_line(progress(best=None, total=None), 0.0).startswith("nothing right yet, 10 right")
    assert share_done(progress(trials=24), 30.0) == 0.5
    assert share_done(progress(total=None), 30.0) is None
    assert time_left(progress(total=None, trials=24), 30.0) == pytest.approx(30.0)


def test_the_page_is_whole_and_safe() -> None:
    base = trial(90, 1, "BLK.x", 8e-3)
    roof = Roofline(10.0, 1e12, 1e11, (("best", 5e11), ("default", 1e10)))
    strange = trial(91, 8, "<script>", 5e-3)
    whole = tuned((*many(), base, strange), baseline=base)
    text = page(whole, '<p class="x">a & b</p>', roof)
    assert text.count(shared()) == 1 and text.index(shared()) < text.index("<iframe")
    own = text.replace(shared(), "").replace(script("trials.js"), "")
    assert "<script" not in own
    assert """srcdoc='<p class="x">a &amp; b</p>'""" in text
    assert "http" not in own
    drawings = re.findall(r"<svg.*?</svg>", text, re.S)
    assert len(drawings) == 4
    for drawing in drawings:
        tree = ElementTree.fromstring(drawing)
        numbers = [
            v for e in tree.iter() for k, v in e.attrib.items() if k in ("x", "y", "cx", "cy", "x1", "y1")
        ]
        assert numbers
        assert all(-20 <= float(v) <= 800 for v in numbers)
    assert len(text) < 100_000


def test_a_default_that_wins_is_one_point_under_the_roof() -> None:
    """The finals time it again: two times of one kernel would look like a difference."""
    plan = small_plan("warps")
    quick, final = (trial(n, 8, "BLK.x", s) for n, s in ((0, 1e-3), (1, 2e-3)))
    other = trial(2, 16, "BLK.x", 3e-3)
    names = {}
    for baseline in (final, other):
        roof = roof_of(tuned((quick, other), baseline=baseline), plan)
        assert roof is not None
        names[baseline.number] = [name for name, _ in roof.points]
    assert names == {1: ["best"], 2: ["default", "best"]}


def test_values_are_written_above_the_lines() -> None:
    drawing = parallel(axes_of(tuned(many())))
    assert drawing.rindex("<path") < drawing.index('class="tick over"')


@pytest.mark.parametrize("trials", [(), (trial(0, 8, "BLK.x", 1e-3),), (trial(0, 8, "BLK.x", None),)])
def test_the_page_of_almost_nothing(trials: tuple[Trial, ...]) -> None:
    assert page(tuned(trials)).endswith("</html>\n")


@pytest.mark.parametrize(
    ("low", "high", "log"), [(0, 1, False), (0, 7e3, False), (1e-6, 3e-6, True), (1, 1e9, True)]
)
def test_ticks_lie_on_their_scale(low: float, high: float, log: bool) -> None:
    scale = AxisScale(low, high, 0, 100, log)
    ticks = scale.ticks()
    assert 2 <= len(ticks) <= 14
    assert all(-1e-9 <= scale(t) <= 100 + 1e-9 for t in ticks)
