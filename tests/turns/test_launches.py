"""`@launch` on loops whose turns run one after another: plans, texts, emitted launchers and graphs."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mdh.checker.open_default import default_for
from mdh.checker.run import check
from mdh.device.cuda_graph import Launches
from mdh.frontend.c.read import read_program
from mdh.hardware import Launching
from mdh.ir.plan import Plan
from mdh.ir.program import Program
from mdh.lower.run import lower
from mdh.machine import load_machine
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.target.emit import emit
from mdh.target.folder import kernels_json
from mdh.target.header import header
from mdh.target.host import host_names
from mdh.target.host_cuda import cuda_launcher
from mdh.target.text import KernelText
from mdh.tuner.space.make import make_space

HEAT = """
void heat(float A[40], float graph[40], float side) {
  for (int t = 0; t < 20; t++) {
    for (int i = 1; i < 39; i++)
      graph[i] = A[i - 1] + side * A[i + 1];
    for (int i = 1; i < 39; i++)
      A[i] = graph[i] / 2;
  }
}
"""
SAID = "loop t( t ) {{ 1: (de-)comp( 1 ) ( FOR.1 ) @launch({}) }}"


def text_of(how: str, target: str = "cuda") -> tuple[Program, KernelText]:
    program = read_program(Source("heat.c", HEAT))
    machine = load_machine("h100" if target == "cuda" else "generic-cpu")
    given = parse_schedule(Source("heat.mdh", SAID.format(how) if how else ""))
    default = default_for(program, machine, target, given=given)
    plan = check(program, given if how else default, machine, target, default=default)
    again = parse_schedule(Source("again.mdh", plan.text))
    assert check(program, again, machine, target).text == plan.text
    return program, emit(lower(plan), program)


def test_texts_say_how() -> None:
    assert [text_of(how)[1].replayed for how in ("", "host", "graph")] == [None, False, True]
    assert text_of("host", "c")[1].loops[0].launch is Launching.HOST


def test_a_manifest_says_how() -> None:
    _, text = text_of("graph")
    assert [x["launch"] for x in kernels_json(text)["loops"]] == ["graph"]  # type: ignore[index, attr-defined]


def test_an_emitted_launcher_records_a_graph() -> None:
    program, text = text_of("graph")
    host = host_names(text, program)
    launcher = cuda_launcher(text, program, host)
    assert launcher.count("cudaGraphLaunch") == 1 and "static int heat_launches(" in launcher
    assert "cudaGraph" not in cuda_launcher(text_of("host")[1], program, host)


class _Runtime:
    """What the launches ask of cupy's runtime. captured: whether the caller records its stream."""

    CUDARuntimeError = RuntimeError

    def __init__(self) -> None:
        self.captured, self.replays = False, 0

    def streamIsCapturing(self, stream: int) -> bool:  # noqa: N802 - the runtime's name
        return self.captured and stream == 1

    def graphLaunch(self, graph: int, stream: int) -> None:  # noqa: N802 - the runtime's name
        self.replays += 1


class _Launch:
    name = "kernel"

    def __init__(self) -> None:
        self.streams: list[int] = []

    def enqueue(self, stream: int) -> None:
        self.streams.append(stream)


def launches(count: int, replayed: bool | None) -> tuple[Launches, _Launch, _Runtime]:
    runtime, launch = _Runtime(), _Launch()

    class Stream:
        ptr = 7

        def __init__(self, *, non_blocking: bool) -> None: ...

        def begin_capture(self, mode: int) -> None: ...

        def end_capture(self) -> Any:
            return SimpleNamespace(graphExec=1)

    cupy = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime, Stream=Stream))
    kernels: Any = tuple((False, launch) for _ in range(count))
    return Launches(kernels, 0, 0, cupy, replayed=replayed), launch, runtime


@pytest.mark.parametrize(
    ("count", "replayed", "replays", "direct"),
    [(2, None, 0, 6), (20, None, 2, 20), (2, True, 3, 0), (20, False, 0, 60)],
)
def test_when_graphs_are_replayed(count: int, replayed: bool | None, replays: int, direct: int) -> None:
    """In three calls. direct: launches on the caller's stream."""
    made, launch, runtime = launches(count, replayed)
    for _ in range(3):
        made.put(1)
    assert (runtime.replays, launch.streams.count(1)) == (replays, direct)
    assert launch.streams.count(7) == (count if replays else 0)


def test_a_caller_that_records_gets_the_launches() -> None:
    made, launch, runtime = launches(3, replayed=True)
    runtime.captured = True
    made.put(1)
    runtime.captured = False
    made.put(1)
    assert launch.streams == [1, 1, 1, 7, 7, 7] and runtime.replays == 1


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc here")
def test_an_emitted_launcher_compiles(tmp_path: Path) -> None:
    """Parameters are called like what its text names."""
    program, text = text_of("graph")
    host = host_names(text, program)
    (tmp_path / "launch.cu").write_text(cuda_launcher(text, program, host))
    (tmp_path / f"{host.function}.cu").write_text(text.source)
    (tmp_path / f"{host.function}.h").write_text(header(text, program, host))
    command = ["nvcc", "-std=c++17", "-arch=sm_90", "-c", "launch.cu", "-o", "launch.o"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)


def test_a_space_keeps_them() -> None:
    program, machine = read_program(Source("heat.c", HEAT)), load_machine("h100")
    own = "( ^ ; ^ ) ( BLK.x ) }"
    steps = f"stage graph {{ (de-)comp( ?{{32,64}} ) {own} stage A {{ (de-)comp( 32 ) {own}"
    given = parse_schedule(Source("heat.mdh", f"{SAID.format('graph')} {steps}"))
    plan = make_space(program, given, machine, "cuda").plan((32,))
    assert isinstance(plan, Plan) and plan.computed.loops[0].launch is Launching.GRAPH
