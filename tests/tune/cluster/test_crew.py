"""Who takes part, and what is said of the others: against workers that are functions."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import Any

import pytest

from mdh.diagnostics import Failed, fail
from mdh.machine import load_machine, print_machine
from mdh.results.trial import Failure, Job, Limits, Outcome
from mdh.tuner.cluster import crew as crews
from mdh.tuner.cluster.bench import ClusterBench
from mdh.tuner.cluster.crew import Crew
from mdh.tuner.cluster.inventory import Inventory, fingerprint, holder
from mdh.tuner.cluster.messages import outcome_json
from mdh.tuner.cluster.refusals import WorkerLostError
from mdh.tuner.measure.wire import Json, failed_json
from tests.tune.measure.bench import EFFORT, GOOD, JOB

H200, A100 = load_machine("h200"), load_machine("a100")
HERE = Inventory(
    fingerprint(), "one", "boot 1", 7, (0, 1), None, (("cuda:0", "NVIDIA H200", "gpu"),), "cuda:0"
)
RIGHT = Outcome(None, warm=(1e-3,), device="cuda:0")


class Double:
    """A worker on a machine of its own. measured: what it answers to a trial; None: it dies of it."""

    def __init__(self, number: int, **changes: Any) -> None:
        self.address = f"tcp://10.0.0.{number}:1"
        self.inventory = replace(HERE, boot=f"boot {number}", host=f"host {number}")
        self.about: Json = {
            "slots": 2, "machine": print_machine(H200), "target": "cuda", "title": "NVIDIA H200",
            "versions": [["mdh", "0.1.0"], ["python", "3.11"], ["driver", "580"]],
        }  # fmt: skip
        self.measured: Callable[[], Json | None] = lambda: {"outcomes": [outcome_json(GOOD[0], RIGHT)]}
        self.begin: Json | None = None
        self.asked: list[str] = []
        self.__dict__.update(changes)

    def answer(self, request: Json) -> Json | None:
        self.asked.append(request["do"])
        match request["do"]:
            case "look":
                return asdict(self.inventory)
            case "begin":
                if self.begin is not None and not request["force"]:
                    return self.begin
                return self.about
            case "measure":
                return self.measured()
            case _:
                return {}


class Wire:
    """Stands for the link. A worker that gives no answer is gone."""

    address = "tcp://10.0.0.1:8786"

    def __init__(self, *workers: Double) -> None:
        self.here = {w.address: w for w in workers}
        self.lost: Failed | None = None

    async def workers(self) -> frozenset[str]:
        if self.lost is not None:
            raise self.lost
        return frozenset(self.here)

    async def ask(self, worker: str, request: Json) -> Json:
        await asyncio.sleep(0)
        answer = self.here[worker].answer(request) if worker in self.here else None
        if answer is None:
            self.here.pop(worker, None)
            raise WorkerLostError("its connection broke")
        return answer

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_JOIN", "_FIRST", "_RETURN", "_LOOK"):
        monkeypatch.setattr(crews, name, 0.05)


class Case:
    def __init__(self, *workers: Double, asked: tuple[str, ...] = (), job: Job = JOB) -> None:
        self.wire, self.said = Wire(*workers), list[str]()
        self.bench = ClusterBench(job, self.wire.address, say=self.said.append)
        wire: Any = self.wire
        self.crew = Crew(wire, "session", job, asked, None, self.said.append)
        self.bench._link, self.bench._crew = wire, self.crew

    def run(self, *steps: Callable[["Case"], Any]) -> list[Any]:
        async def body() -> list[Any]:
            try:
                await self.crew.gather()
                return [await step(self) for step in steps]
            finally:
                await self.bench.close()

        return asyncio.run(body())


async def trial(case: Case) -> Outcome:
    return await case.bench.trial(GOOD[0], EFFORT, Limits())


async def later(case: Case) -> None:
    await asyncio.sleep(0.3)


def test_those_that_are_alike_take_part() -> None:
    other = Double(3)
    other.about = {**other.about, "versions": [["mdh", "0.1.0"], ["driver", "570"]]}
    smaller = Double(4)
    smaller.about = {**smaller.about, "title": "NVIDIA A100", "machine": print_machine(A100)}
    newer = Double(5)
    newer.inventory = replace(newer.inventory, mdh="0.2.0 (abc)")
    bare = Double(6)
    bare.inventory = replace(bare.inventory, devices=(), default="")
    python = Double(7)
    python.about["versions"] = [["mdh", "0.1.0"], ["python", "3.13"], ["driver", "580"]]
    case = Case(Double(1), Double(2), other, smaller, newer, bare, python)
    case.run()
    assert sorted(case.crew.members) == [f"tcp://10.0.0.{n}:1" for n in (1, 2, 7)]
    reasons = "\n".join(case.said)
    assert "10.0.0.3:1 on host 3 takes no part: it has driver 570, not 580" in reasons
    assert "10.0.0.4:1 on host 4 takes no part: its device is NVIDIA A100 with 108 units" in reasons
    assert "10.0.0.5:1 on host 5 takes no part: it has mdh 0.2.0 (abc), not" in reasons
    assert "10.0.0.6:1 on host 6 takes no part: it has no device" in reasons
    assert other.asked == smaller.asked == ["look", "begin", "end"]


def test_a_device_has_one_worker_and_another_stands_by() -> None:
    twin = Double(2)
    twin.inventory = replace(HERE, boot="boot 1", host="host 1")
    sister = Double(3)
    sister.inventory = replace(HERE, boot="boot 1", host="host 1", visible="1,0")
    case = Case(Double(1), twin, sister)

    async def lose_first(case: Case) -> None:
        del case.wire.here["tcp://10.0.0.1:1"]
        await later(case)

    case.run(lose_first)
    assert [s.split(" on ")[0] for s in case.said if "takes part" in s] == [
        f"worker tcp://10.0.0.{n}:1" for n in (1, 3, 2)
    ]
    assert sum("stands by" in s for s in case.said) == 1


def test_devices_are_those_asked_for_else_all_of_the_first_model() -> None:
    devices = (("cuda:0", "H200", "gpu"), ("cuda:1", "H200", "gpu"), ("cuda:2", "T4", "gpu"),
               ("opencl:0", "EPYC", "cpu"), ("oclgrind", "H200", "checker"))  # fmt: skip
    there = replace(HERE, devices=devices)
    assert there.chosen(()) == ("cuda:0", "cuda:1")
    assert there.chosen(("opencl:0",)) == ("opencl:0",)
    assert there.places(("opencl:0",)) == {"boot 1 core 0", "boot 1 core 1"}
    assert replace(there, visible="GPU-a,3").places(("cuda:1",)) == {"boot 1 cuda:3"}
    assert there.places(("opencl",)) == there.places(("opencl:0",))


def test_a_worker_that_dies_costs_no_trial_and_a_deadly_candidate_ends() -> None:
    deadly = Double(1, measured=lambda: None)
    case = Case(deadly, Double(2))
    [outcome] = case.run(trial)
    assert outcome.failure is None
    assert outcome.device == "cuda:0 on host 2"
    assert "is lost: its connection broke" in "\n".join(case.said)

    case = Case(*(Double(n, measured=lambda: None) for n in range(1, 6)))
    [outcome] = case.run(trial)
    assert (outcome.failure, outcome.code) == (Failure.CRASH, "F205")
    assert len(case.crew.members) == 2


def test_a_lost_device_retires_its_worker() -> None:
    lost = fail("D120", "the device is lost")
    case = Case(Double(1, measured=lambda: {"failed": failed_json(lost)}), Double(2))
    [outcome] = case.run(trial)
    assert outcome.device == "cuda:0 on host 2"
    with pytest.raises(Failed, match="D120"):
        Case(Double(1, measured=lambda: {"failed": failed_json(lost)})).run(trial)


@pytest.mark.parametrize("reply", [{"outcomes": []}, {"outcomes": [{}]}, {}, {"lost": True}])
def test_an_answer_that_is_none_counts_as_a_loss(reply: Json) -> None:
    case = Case(Double(1, measured=lambda: reply), Double(2))
    [outcome] = case.run(trial)
    assert outcome.failure is None


def test_an_empty_cluster_is_waited_for_then_given_up() -> None:
    with pytest.raises(Failed, match=r"F202: the cluster .* has no workers"):
        Case().run()
    newer = Double(1)
    newer.inventory = replace(newer.inventory, mdh="0.2.0 (abc)")
    with pytest.raises(Failed, match="F202: no worker of the cluster") as refused:
        Case(newer).run()
    assert refused.value.diagnostics[0].notes == (
        f"tcp://10.0.0.1:1: it has mdh 0.2.0 (abc), not {fingerprint()}",
    )
    with pytest.raises(Failed, match="F204"):
        Case(Double(1, measured=lambda: None)).run(trial)


def test_a_lost_scheduler_ends_trials_that_wait() -> None:
    async def lose(case: Case) -> BaseException:
        for member in case.crew.members.values():
            member.busy = member.slots
        waiting = asyncio.create_task(trial(case))
        await asyncio.sleep(0.01)
        case.wire.lost = fail("F203", "the scheduler is lost")
        [found] = await asyncio.gather(waiting, return_exceptions=True)
        assert isinstance(found, BaseException)
        return found

    [found] = Case(Double(1)).run(lose)
    assert isinstance(found, Failed)
    assert found.diagnostics[0].code == "F203"


def test_a_worker_that_another_tuning_has_is_waited_for() -> None:
    here = holder()
    busy = Double(1, begin={"busy": "other", "holder": here})
    case = Case(busy, Double(2))

    async def free(case: Case) -> None:
        busy.begin = None
        await later(case)

    case.run(free)
    assert sorted(case.crew.members) == ["tcp://10.0.0.1:1", "tcp://10.0.0.2:1"]
    assert any("takes no part yet: it serves another tuning" in s for s in case.said)
    dead = Double(1, begin={"busy": "other", "holder": {**here, "pid": 2**22 + 1}})
    case = Case(dead)
    case.run()
    assert dead.asked.count("begin") == 2
