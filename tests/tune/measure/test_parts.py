"""Parts of the bench that need no process."""

import json
import subprocess
import sys
from dataclasses import asdict

import pytest

from mdh.device.protocols import RunTimes
from mdh.diagnostics import Diagnostic, fail
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.results.trial import Effort, Failure, Job, Limits, Outcome
from mdh.schema import convert
from mdh.source import Source
from mdh.tuner.measure.failures import classify, crashed, message_of, of_the_machine, poisons, timed_out
from mdh.tuner.measure.outcomes import Patience
from mdh.tuner.measure.timing import run_timed
from mdh.tuner.measure.wire import failed_json, read_failed, read_text, text_json
from tests.support.faulty_worker import KINDS, Faults
from tests.target.test_dispatch import PARAMETERS
from tests.tune.measure.bench import MATMUL


@pytest.mark.parametrize("machine", ["generic-cpu", "h200"])
def test_a_kernel_text_comes_back_as_it_was(machine: str) -> None:
    pipeline = Pipeline()
    program = pipeline.read(Source("matmul.c", MATMUL))
    known = load_machine(machine)
    checked = pipeline.check(program, None, known, known.targets[0])
    text = pipeline.emit(pipeline.lower(checked.plan), program)
    assert read_text(text_json(text)) == text
    for kind in KINDS[:4]:
        faults = Faults(None)
        assert faults.in_text("key", text) is text
        faults.plan = {"key": kind}
        assert faults.in_text("key", text).source != text.source


OPEN_STEPS = "1: (de-)comp( 5, 6, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )"
OPEN_SCHEDULES = (
    OPEN_STEPS,
    f"{OPEN_STEPS} @order(grouped(2))",
    f"{OPEN_STEPS} @persistent",
    "1: (de-)comp( ^, 6, ^ ) ( ^, ^ ; ^ ) ( ^, BLK.x, ^ )\n2: (de-)comp( 4, ^, ^ ) ( ^, ^ ; ^ ) ( ^, ^, ^ )",
)


@pytest.mark.parametrize("steps", OPEN_SCHEDULES)
def test_the_grid_of_open_sizes_comes_back(steps: str) -> None:
    """With the largest grid, kernels at smaller sizes would be timed with blocks that have nothing to do."""
    pipeline, known = Pipeline(), load_machine("h200")
    program = pipeline.read(Source("mm.c", PARAMETERS), defines={"N": "1..40", "M": "8..64:8"})
    checked = pipeline.check(program, pipeline.schedule(Source("s", steps)), known, "cuda")
    made = pipeline.emit(pipeline.lower(checked.plan), program)
    assert any(k.launch.sizes for k in made.kernels)
    assert read_text(json.loads(json.dumps(text_json(made)))) == made


def test_jobs_and_refusals_come_back_as_they_were() -> None:
    job = Job("a.c", "void f() {}", (("N", 3), ("T", "float")), "f", device="cuda:1", seed=4)
    assert convert(json.loads(json.dumps(asdict(job))), Job) == job
    failed = fail("K104", "too large", help="smaller")
    assert read_failed(failed_json(failed)).diagnostics == failed.diagnostics


def test_a_measuring_process_loads_no_compiler() -> None:
    """Candidates crash it, and what it imports is what its replacement costs."""
    words = "import sys, mdh.tuner.measure.worker, mdh.tuner.measure.measuring; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    parts = ("mdh.checker", "mdh.lower", "mdh.target.emit", "mdh.pipeline")
    assert not [m for m in done.stdout.split() if m.startswith(parts)]


def _d105(verb: str, status: str) -> Diagnostic:
    return Diagnostic("D105", "the device could not", witness=(("verb", verb), ("status", status)))


@pytest.mark.parametrize(
    ("found", "failure"),
    [
        (Diagnostic("K104", ""), Failure.CONSTRAINTS),
        (Diagnostic("S101", ""), Failure.CONSTRAINTS),
        (Diagnostic("D121", ""), Failure.COMPILE),
        (Diagnostic("D103", ""), Failure.COMPILE),
        (Diagnostic("D104", ""), Failure.LAUNCH),
        (Diagnostic("N103", ""), Failure.WRONG),
        (_d105("launch", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), Failure.LAUNCH),
        (_d105("prepare", "CUDA_ERROR_INVALID_VALUE"), Failure.LAUNCH),
        (_d105("run", "INVALID_WORK_GROUP_SIZE"), Failure.LAUNCH),
        (_d105("launch", "CUDA_ERROR_ILLEGAL_ADDRESS"), Failure.RUNTIME),
        (_d105("finish", "cudaErrorMisalignedAddress: misaligned address"), Failure.RUNTIME),
        (_d105("finish", "cudaErrorLaunchFailure: unspecified launch failure"), Failure.RUNTIME),
    ],
)
def test_classes(found: Diagnostic, failure: Failure) -> None:
    assert classify((found,)) == failure
    assert poisons(found) == (failure is Failure.RUNTIME)
    assert not of_the_machine((found,))


def test_messages_name_stage_limit_signal_and_last_words() -> None:
    assert timed_out("build", 60.0).message == "the candidate did not end its build in 60 s"
    died = crashed("launch", -6, "LLVM ERROR: no")
    assert died.message == "the process that did its launch ended by SIGABRT: LLVM ERROR: no"
    assert message_of((Diagnostic("D121", "refused", notes=("line 3: error",)),)) == "refused; line 3: error"


class _Runs:
    """A call whose runs take what a list says, in turn for ever."""

    def __init__(self, *seconds: float, own: bool = True) -> None:
        self.seconds, self.own, self.count = seconds, own, 0

    def launch(self) -> None:
        """Never asked for."""

    def poison(self) -> None:
        """Never asked for."""

    def sample(self) -> RunTimes:
        self.count += 1
        wall = self.seconds[self.count % len(self.seconds)]
        return RunTimes(wall / 2 if self.own else None, wall)


def test_runs_are_interleaved_and_losers_stop_after_three() -> None:
    fast, slow = _Runs(1.0), _Runs(4.0)
    order: list[int] = []
    timed = run_timed((fast, slow), Effort(samples=5, seconds=60.0, give_up=1.0), lambda: 0, order.append)
    assert order == [0, 1, 0, 1, 0, 1, 0, 1, 0, 0]
    assert (len(timed[0].warm), timed[0].stopped) == (5, False)
    assert (len(timed[1].warm), timed[1].stopped) == (3, True)
    assert timed[0].seconds(timed[0].warm) == [0.5] * 5


def test_cold_runs_follow_an_eviction_and_a_wall_clock_holds_for_all() -> None:
    call = _Runs(1.0, own=False)
    flushed: list[int] = []
    (timed,) = run_timed(
        (call,),
        Effort(samples=2, seconds=60.0, cold=True),
        lambda: flushed.append(call.count),
        lambda _: None,
    )
    # one run that is not counted and the warm ones, before any cache is evicted
    assert flushed == [3, 4]
    assert (len(timed.cold), len(timed.warm), call.count) == (2, 2, 5)
    assert timed.clock == "wall"
    assert timed.seconds(timed.warm) == [1.0, 1.0]


def test_one_run_is_taken_even_where_there_is_no_time() -> None:
    (timed,) = run_timed((_Runs(1.0),), Effort(samples=9, seconds=0.0), lambda: 0, lambda _: None)
    assert len(timed.warm) == 1


def test_patience_shrinks_while_searching_alone() -> None:
    patience, limits = Patience(), Limits()
    search = Effort(give_up=1e-3)
    assert patience.launch(search, limits) == limits.launch
    patience.saw(Outcome(None, check_seconds=1.5))
    assert patience.launch(search, limits) == 15.0
    assert patience.measure(search, limits) == 3.0
    assert patience.launch(Effort(), limits) == limits.launch
    assert patience.measure(Effort(), limits) == limits.measure
