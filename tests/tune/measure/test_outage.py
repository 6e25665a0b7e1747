"""What waits while the machine is at fault, and places of workers that do not start."""

import asyncio
import time

import pytest

from mdh.diagnostics import Failed, fail
from mdh.tuner.measure import outage, posts, wire
from mdh.tuner.measure.outage import Outage
from mdh.tuner.measure.posts import Posts
from mdh.tuner.measure.process import Command
from tests.tune.doubles import GreetingWorker, StartingPost


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "_FIRST", 0.01)
    monkeypatch.setattr(posts, "_BACK_OFF", 0.01)


def no_room() -> Failed:
    return fail("D132", "no room", help="free some")


def test_a_fault_is_waited_for_and_told_once() -> None:
    said: list[str] = []

    async def run() -> list[int]:
        bad, tries = Outage(said.append), 0

        async def work() -> int:
            nonlocal tries
            tries += 1
            if tries < 6:
                raise no_room()
            return tries

        return list(await asyncio.gather(*(bad.overcome(work) for _ in range(3))))

    assert len(asyncio.run(run())) == 3
    assert len(said) == 1
    assert said[0].startswith("D132: no room (free some); the tuner tries again")


def test_a_fault_that_lasts_ends_and_what_is_no_fault_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(outage, "LASTS", 0.1)
    tries = {"D132": 0, "D135": 0}

    async def work(code: str) -> None:
        tries[code] += 1
        raise fail(code, "it fails")

    for code in tries:
        with pytest.raises(Failed, match=code):
            asyncio.run(Outage().overcome(lambda code=code: work(code)))
    assert tries["D132"] > 2
    assert tries["D135"] == 1


@pytest.mark.parametrize(("at_once", "failures"), [(1, 4), (6, 9)])
def test_some_attempts_are_made_however_long_each_takes(
    monkeypatch: pytest.MonkeyPatch, at_once: int, failures: int
) -> None:
    """A worker that was stopped at its start says nothing for longer than a fault may last. Attempts that
    began before the fault was known count as one."""
    monkeypatch.setattr(outage, "LASTS", 0.0)
    tries = 0

    async def work() -> None:
        nonlocal tries
        tries += 1
        await asyncio.sleep(0.01)
        if tries <= failures:
            raise no_room()

    async def run() -> None:
        bad = Outage()
        await asyncio.gather(*(bad.overcome(work) for _ in range(at_once)))

    asyncio.run(run())
    assert tries == failures + at_once


def test_what_a_later_worker_is_refused_with_is_the_machines_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same program and the same device were good for the first: without descriptors mdh finds no machine
    file, without memory it has no room for the reference."""
    refusal = {"failed": wire.failed_json(fail("F150", "no machine is called `generic-cpu`"))}

    def post(*hellos: wire.Json, proved: bool = False) -> posts.Post:
        left = iter(hellos)

        async def start(*_: object) -> GreetingWorker:
            return GreetingWorker(next(left))

        monkeypatch.setattr(posts.Worker, "start", start)
        return posts.Post("c", Command((), {}), posts.Quiet(needed=False), None, proved=proved)

    async def code(one: posts.Post) -> str:
        with pytest.raises(Failed) as found:
            await one.worker()
        return found.value.diagnostics[0].code

    async def run() -> None:
        assert await code(post(refusal)) == "F150"
        assert await code(post(refusal, proved=True)) == "D133"
        later = post({"title": "a"}, refusal, {"title": "b"})
        first = await later.worker()
        assert later.about == {"title": "a"}
        await first.kill()
        assert await code(later) == "D133"
        await later.worker()
        assert later.about == {"title": "a"}

    asyncio.run(run())


def test_a_post_whose_worker_does_not_start_is_asked_again_while_others_work() -> None:
    said: list[str] = []

    async def run() -> tuple[list[str], int]:
        well, ill = StartingPost("well"), StartingPost("ill", failures=3)
        group, served = Posts((ill, well), said.append), []  # type: ignore[arg-type]
        end = time.monotonic() + 5.0
        while "ill" not in served and time.monotonic() < end:
            async with group.taken() as (post, _):
                served.append(post.spec)
            await asyncio.sleep(0.005)
        await group.close()
        return served, ill.tries

    served, tries = asyncio.run(run())
    assert "well" in served and "ill" in served
    assert tries == 4
    assert said == ["D133: ill: no worker; it is tried again, and others go on"]


def test_where_no_worker_starts_the_next_call_tries_again() -> None:
    async def run() -> str:
        group = Posts((StartingPost("only", failures=2),))  # type: ignore[arg-type]

        async def take() -> str:
            async with group.taken() as (post, _):
                return post.spec

        with pytest.raises(Failed, match="D133"):
            await take()
        return await Outage().overcome(take)

    assert asyncio.run(run()) == "only"


def test_a_program_that_is_refused_is_not_tried_again() -> None:
    async def run() -> None:
        post = StartingPost("only", failures=9, code="C101")
        group = Posts((post,))  # type: ignore[arg-type]
        for _ in range(2):
            with pytest.raises(Failed, match="C101"):
                async with group.taken():
                    pytest.fail("it started")
        assert post.tries == 1

    asyncio.run(run())
