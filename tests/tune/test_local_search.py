"""The search around a schedule: what it changes, that it gets somewhere, and that a run goes on."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from mdh.checker.run import check
from mdh.diagnostics import Failed
from mdh.frontend.c.read import read_program
from mdh.hardware import Layer
from mdh.machine import Machine, load_machine
from mdh.report.tune_text import tuned_text
from mdh.results.goal import Goal
from mdh.results.trial import Job
from mdh.schedule.default import default_schedule
from mdh.schedule.model import Attr, Schedule
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.tuner.local_search.neighbours import MOVES, neighbour
from mdh.tuner.local_search.subject import Move, SearchSubject, Subjects, subject_of
from mdh.tuner.order import Order
from mdh.tuner.session import make_session, prepared
from mdh.tuner.start import nothing_legal
from tests.support.corpus import WORKLOADS
from tests.support.source_tree import ROOT
from tests.tune.test_session import Ground, go

MATMUL = WORKLOADS["matmul_init"].source
SIZES = {"M": 64, "N": 128, "K": 64}
PLAIN = """1: (de-)comp( 16, 16, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )
2: (de-)comp( 1, 1, 8 ) ( ^, ^ ; C:RM[1,2] ) ( FOR.2, FOR.3, FOR.1 )
"""


def order(place: Path, schedule: str | None = PLAIN, **options: object) -> Order:
    parsed = None if schedule is None else parse_schedule(Source("s.mdh", schedule))
    defines = tuple(SIZES.items())
    settings = {"goal": Goal(trials=40), "sampler": "around", **options}
    job = Job("matmul.c", MATMUL.text, defines)
    return Order(job, read_program(MATMUL, defines=SIZES), parsed, ("cpu",), place=place, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "machine", "target", "workload"),
    [
        ("matmul/h200/wide.mdh", "h200", "cuda", "matmul_init"),
        ("conv2d_56/h200/strips.mdh", "h200", "cuda", "conv2d_56"),
        ("matmul/generic-cpu/avx512.mdh", "generic-cpu", "c", "matmul_init"),
        ("matmul_bf16/h200/tensor.mdh", "h200", "cuda", "matmul_bf16"),
    ],
)
def test_neighbours_are_schedules(name: str, machine: str, target: str, workload: str) -> None:
    schedule = parse_schedule(Source(name, (ROOT / "schedules" / name).read_text(encoding="utf-8")))
    sizes = {"M": 1024, "N": 1024, "K": 1024} if workload.startswith("matmul") else {}
    program = read_program(WORKLOADS[workload].source, defines=sizes)
    on: Machine = load_machine(machine)
    subject = Subjects(program, on, target).of
    rng, codes, made = Random(1), Counter[str](), set[str]()
    for _ in range(300):
        found = neighbour(schedule, subject, rng)
        if found is None:
            continue
        text = print_schedule(found)
        made.add(text)
        assert print_schedule(parse_schedule(Source("neighbour", text))) == text
        try:
            check(program, found, on, target)
            codes["legal"] += 1
        except Failed as failed:
            codes[failed.diagnostics[0].code] += 1
    assert len(made) > 200
    assert codes["legal"] > 30, codes
    # nothing but the rules stands against a neighbour
    assert all(code == "legal" or code.startswith("K") for code in codes), codes


THREADS = parse_schedule(
    Source(
        "threads",
        "1: (de-)comp( 64, 64, ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )\n"
        "2: (de-)comp( 8, 8, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )\n",
    )
)


@pytest.mark.parametrize("move", MOVES, ids=lambda m: m.__name__)
def test_every_move_is_legal_somewhere(move: Move) -> None:
    program, rng = read_program(MATMUL, defines={"M": 1024, "N": 1024, "K": 1024}), Random(2)
    rows = parse_schedule(Source("rows", "1: (de-)comp( 16, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )\n"))
    h200, cpu = load_machine("h200"), load_machine("generic-cpu")
    default = default_schedule(program, h200, "cuda")
    legal = 0
    for schedule, on, target in ((default, h200, "cuda"), (THREADS, h200, "cuda"), (rows, cpu, "c")):
        (section,) = schedule.sections
        subject = subject_of(program, program.stages[0], on, target)
        for _ in range(200):
            steps = move(section.steps, subject, rng)
            if steps is None:
                continue
            assert steps != section.steps
            steps = tuple(replace(s, label=None) for s in steps)
            try:
                check(program, replace(schedule, sections=(replace(section, steps=steps),)), on, target)
                legal += 1
            except Failed:
                continue
    assert legal


CLUSTERED = "matmul_bf16/h200/cluster.mdh"
CHANGED = ("copy", "swizzle", "stages", "roles", "inflight", "store", "order", "persistent", "occupancy")


def _said(schedule: Schedule, name: str) -> list[tuple[int, Attr]]:
    """The attributes of a name, with their steps."""
    steps = enumerate(schedule.sections[0].steps)
    entries = ((n, e) for n, step in steps for e in (step, *step.inputs, *step.outputs, *step.cores))
    return [(n, a) for n, e in entries for a in e.attrs if a.name == name]


def test_every_attribute_of_tensor_cores_is_changed_to_something_legal() -> None:
    text = (ROOT / "schedules" / CLUSTERED).read_text(encoding="utf-8")
    schedule = replace(parse_schedule(Source(CLUSTERED, text)), target=None, program=None, sizes=())
    program = read_program(WORKLOADS["matmul_bf16"].source, defines={"M": 1024, "N": 1024, "K": 1024})
    on = load_machine("h200")
    subject = Subjects(program, on, "cuda").of
    rng, left = Random(5), set(CHANGED)
    for _ in range(20_000):
        found = neighbour(schedule, subject, rng)
        new = {a for a in left if found is not None and _said(found, a) != _said(schedule, a)}
        if found is None or not new:
            continue
        try:
            check(program, parse_schedule(Source("n.mdh", print_schedule(found))), on, "cuda")
        except Failed:
            continue
        left -= new
        if not left:
            return
    raise AssertionError(f"never changed: {', '.join(sorted(left))}")


def test_it_gets_somewhere_and_goes_on(tmp_path: Path) -> None:
    first = go(make_session(order(tmp_path), Ground()))
    quick = [t for t in first.trials if t.phase == "quick"]
    assert [t.origin for t in quick[:2]] == ["default", "given"]
    assert {t.origin for t in quick[2:]} == {"around", "model"}
    assert first.given is not None
    assert first.given.outcome.seconds is not None
    assert first.best is not None
    assert first.best.outcome.seconds is not None
    assert first.best.outcome.seconds < first.given.outcome.seconds
    again = go(make_session(order(tmp_path), Ground()))
    keys = [t.candidate.key for t in (*first.trials, *again.trials) if t.phase == "quick"]
    assert len(set(keys)) == len(keys) == 80
    assert again.best is not None
    assert again.best.outcome.seconds is not None
    assert again.best.outcome.seconds <= first.best.outcome.seconds


def test_the_same_seed_gives_the_same_trials(tmp_path: Path) -> None:
    keys = []
    for place, seed in (("a", 3), ("b", 3), ("c", 4)):
        tuned = go(make_session(order(tmp_path / place, seed=seed, model=False), Ground()))
        keys.append([t.candidate.key for t in tuned.trials])
    assert keys[0] == keys[1] != keys[2]


def test_it_begins_from_the_default_and_from_other_records(tmp_path: Path) -> None:
    given = go(make_session(order(tmp_path), Ground()))
    tuned = go(make_session(order(tmp_path, None), Ground()))
    origins = [t.origin for t in tuned.trials if t.phase == "quick"]
    assert origins[0] == "default"
    assert "record" in origins
    assert "given" not in origins
    assert given.best is not None
    assert given.best.candidate.key in {t.candidate.key for t in tuned.trials}


def test_a_run_over_holes_goes_on_from_one_around_them(tmp_path: Path) -> None:
    open_ = PLAIN.replace("16, 16", "?a{16,32}, ?b{16,32}")
    around = go(make_session(order(tmp_path, open_), Ground()))
    assert around.variables == ()
    assert around.given is not None
    assert dict(around.given.candidate.values).keys() == {"?a", "?b"}
    over = go(make_session(order(tmp_path, open_, sampler="random"), Ground()))
    # the neighbours in the record are none of its points; of its four the first was measured
    quick = [t for t in over.trials if t.phase == "quick"]
    assert len(quick) == 3
    assert nothing_legal(over) is None
    if over.best is not None and not over.best.candidate.values:
        assert "another of the record is faster" in tuned_text(over)


def test_where_holds_for_holes(tmp_path: Path) -> None:
    open_ = PLAIN.replace("16, 16", "?a{16,32}, 16") + "where ?a <= 16\n"
    session = make_session(order(tmp_path, open_), Ground())
    assert any("where" in remark for remark in session.remarks)
    session.close()


STAGES = """void f(float x[1], const float A[64], float y[64]) {
  x[0] = 1;
  for (int i = 0; i < 64; i++)
    y[i] = A[i] + x[0];
}"""
SINGLE = "void f(float y[8]) { y[0] = 1; }"


@pytest.mark.parametrize("text", [STAGES, SINGLE])
def test_stages_of_a_single_element(text: str, tmp_path: Path) -> None:
    source = Source("f.c", text)
    single = replace(order(tmp_path, None), program=read_program(source), job=Job("f.c", text))
    tuned = go(make_session(single, Ground()))
    assert tuned.best is not None
    assert not tuned.trouble


def test_labels_say_where_steps_are_in_the_code() -> None:
    text = (ROOT / "schedules" / "published" / "cc23_listing5.mdh").read_text(encoding="utf-8")
    schedule = parse_schedule(Source("listing5", text))
    (section,) = schedule.sections
    dims, inputs, outputs = (len(getattr(section.steps[0], name)) for name in ("tiles", "inputs", "outputs"))
    buffers = tuple("ABCDEFGH"[: inputs + outputs])
    subject = SearchSubject(
        (1024,) * dims, inputs, outputs, buffers, tuple((b, 2) for b in buffers), (Layer.BLK, Layer.THR)
    )
    before = [step.label for step in section.steps]
    assert before != sorted(label for label in before if label is not None)
    rng = Random(4)
    for _ in range(200):
        found = neighbour(schedule, lambda _: subject, rng)
        if found is None:
            continue
        labels = [step.label for step in found.sections[0].steps if step.label is not None]
        assert len(labels) == len(found.sections[0].steps)
        assert sorted(labels) == list(range(min(labels), min(labels) + len(labels)))


def test_nothing_is_shared(tmp_path: Path) -> None:
    with pytest.raises(Failed) as caught:
        prepared(order(tmp_path, storage="sqlite:///study.db"), Ground())
    assert caught.value.diagnostics[0].code == "F185"
