"""Records that were written once load for ever: these files are never written again."""

from pathlib import Path

from mdh.results.trial import Candidate, Failure, Outcome, Trial
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import read_record

RECORD_1 = Path(__file__).parent / "fixtures" / "record-1.jsonl"
KEY = "4b13f5dcecd33e165c5ea69a6b3842ebf19f22b359a518355b835c598e4988d5"
FIRST = Trial(
    0,
    Candidate(
        "ab" * 32,
        "1: (de-)comp( 8, ^, ^ ) ( ^, ^ ; ^ ) ( BLK.x, ^, ^ )\n",
        (("?bm", 8), ("2.core.i", "THR.x")),
    ),
    "default",
    "quick",
    Outcome(
        None, warm=(1.5e-4, 1.25e-4, 2e-4), cold=(3e-4,), clock="device", build_seconds=0.5,
        check_seconds=0.25, measure_seconds=0.125, resources=(("registers", 64), ("spills", 0)),
        clocks=(1980.0, 1965.0), device="cuda:0", title="NVIDIA H200", versions=(("driver", "580.1"),),
    ),
    1760000001.5,
    1.25,
)  # fmt: skip


def test_record_1_loads() -> None:
    header, trials, remarks = read_record(str(RECORD_1))
    assert remarks == ()
    assert (header.key, header.program, header.machine, header.target) == (KEY, "matmul", "h200", "cuda")
    assert header.sizes == (("N", 64), ("T", "float"))
    assert header.types == (("A", "f32[64][64]"), ("C", "f32[64][64]"))
    assert (header.seed, header.created, header.device) == (11, 1760000000.25, "NVIDIA H200")
    assert (header.method, header.command) == ("median of warm runs", "mdh tune matmul.c")
    assert header.schedule.startswith("// open tiles\n1: (de-)comp( ?bm{8,16}, ^, ^ )")
    assert trials[0] == FIRST
    assert [t.outcome.failure for t in trials] == [
        None, Failure.COMPILE, Failure.LAUNCH, Failure.RUNTIME, Failure.TIMEOUT, Failure.CRASH, Failure.WRONG,
        Failure.CONSTRAINTS, None,
    ]  # fmt: skip
    assert trials[5].outcome == Outcome(Failure.CRASH, "D104", "it did not crash: µ", innocent=True)
    assert trials[8].extra == (("energy", '{"joule": [1.5, 2]}'),)


def test_record_1_is_merged_whole(tmp_path: Path) -> None:
    out = tmp_path / "r.jsonl"
    merge(str(out), [str(RECORD_1)])
    assert sorted(out.read_bytes().splitlines()) == sorted(RECORD_1.read_bytes().splitlines())
