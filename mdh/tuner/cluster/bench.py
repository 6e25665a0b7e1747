"""The bench of many machines: trials go to workers of a Dask cluster, each with a LocalBench of its own.

mdh sends only JSON texts. But Dask itself runs any code that clients send, so the cluster must be one that
you trust: on loopback, on a network of your own, or behind TLS (`tls://`, with Dask's configuration).
"""

import asyncio
import re
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from mdh.diagnostics import Failed
from mdh.results.trial import Candidate, Effort, Job, Limits, Outcome
from mdh.source import Source, Span
from mdh.tuner.cluster.messages import candidate_json, read_outcome
from mdh.tuner.cluster.refusals import WorkerLostError, absent, included, misspelt, unlucky
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.outage import Say, silent
from mdh.tuner.measure.wire import Json, read_failed

if TYPE_CHECKING:
    from mdh.tuner.cluster.crew import Crew
    from mdh.tuner.cluster.link import Link
    from mdh.tuner.cluster.member import Member

ATTEMPTS = 3
"""The number of workers lost with a candidate after which the candidate is taken for the cause."""
_ADDRESS = re.compile(r"[a-z]+://[^/\s]+:\d{1,5}")
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+["<]([^">\n]+)[">]', re.MULTILINE)


class ClusterBench:
    """`async with ClusterBench(job, "tcp://host:8786") as bench`. Any number of workers may join and leave.

    devices: those that each worker measures on. Without them: the job's devices, and if it names none, all
    devices of the model of the worker's default device. jobs: builders a worker. say: called with remarks for
    the user. Files that the C includes are not sent.
    """

    ground: Ground

    def __init__(
        self, job: Job, address: str, devices: tuple[str, ...] = (), jobs: int | None = None,
        say: Say = silent,
    ) -> None:  # fmt: skip
        self.job, self.address, self.jobs, self._say = job, address, jobs, say
        self.devices = devices or tuple(d for d in (job.device,) if d)
        self._link: Link | None = None
        self._crew: Crew | None = None
        self._stops: set[asyncio.Task[None]] = set()
        self._numbered = 0

    @property
    def slots(self) -> int:
        """The slots of the workers that are here; at least one, so that trials wait for workers."""
        return max(1, 0 if self._crew is None else self._crew.slots)

    async def __aenter__(self) -> Self:
        """Raises Failed: F200 Dask is not installed, F201 no scheduler, F202 no worker can take part, F206
        the program is in several files."""
        if _ADDRESS.fullmatch(self.address) is None:
            raise misspelt(self.address)
        check_whole(self.job)
        try:
            link, crew = (import_module(f"mdh.tuner.cluster.{name}") for name in ("link", "crew"))
        except ModuleNotFoundError as missing:
            raise absent(missing) from None
        self._link = await link.Link.open(self.address)
        job = replace(self.job, path=Path(self.job.path).name)
        self._crew = crew.Crew(self._link, uuid4().hex, job, self.devices, self.jobs, self._say)
        try:
            await self._crew.gather()
        except BaseException:
            await self.close()
            raise
        assert self._crew.ground is not None
        self.ground = self._crew.ground
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """See mdh.tuner.measure.bench.Bench. Workers end their benches; the cluster keeps running."""
        for task in self._stops:
            task.cancel()
        if self._crew is not None:
            await self._crew.close()
        if self._link is not None:
            await self._link.close()
            self._link = None

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        """See mdh.tuner.measure.bench.Bench. Raises Failed: F203 the scheduler is lost, F204 the last worker
        is lost, or the reason why the last worker's device was lost."""
        return (await self.duel((candidate,), effort, limits))[0]

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        """Measures finalists on one worker. If that is lost, another one measures all of them again."""
        request: Json = {
            "do": "measure", "candidates": [candidate_json(c) for c in finalists],
            "effort": asdict(effort), "limits": asdict(limits),
        }  # fmt: skip
        assert self._crew is not None
        why, losses = "", 0
        while losses < ATTEMPTS:
            member = await self._crew.seat()
            try:
                reply = await self._asked(member, request)
                if "failed" in reply:
                    await self._crew.retire(member, read_failed(reply["failed"]))
                elif "lost" in reply:
                    raise WorkerLostError("it was started anew")
                else:
                    return self._signed(member, reply, len(finalists))
            except WorkerLostError as error:
                why, losses = str(error), losses + 1
                await self._crew.lose(member, why)
            finally:
                await self._crew.leave(member)
        return tuple(unlucky(ATTEMPTS, why) for _ in finalists)

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        """See mdh.tuner.measure.bench.Bench. Workers do not tell what they still have to compute."""
        return 0.0

    async def _asked(self, member: "Member", request: Json) -> Json:
        """Sends one request. Raises WorkerLostError, F203. If the caller cancels it, the worker cancels the
        trial too."""
        assert self._link is not None
        self._numbered += 1
        trial = {"session": self._crew.session if self._crew else "", "trial": str(self._numbered)}
        answer = asyncio.ensure_future(self._link.ask(member.address, {**request, **trial}))
        gone = asyncio.ensure_future(member.gone.wait())
        try:
            await asyncio.wait({answer, gone}, return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return answer.result()
            raise WorkerLostError("the scheduler has lost it")
        except asyncio.CancelledError:
            task = asyncio.ensure_future(self._stop(member, {"do": "stop", **trial}))
            self._stops.add(task)
            task.add_done_callback(self._stops.discard)
            raise
        finally:
            answer.cancel()
            gone.cancel()

    async def _stop(self, member: "Member", request: Json) -> None:
        assert self._link is not None
        try:
            await self._link.ask(member.address, request)
        except (Failed, WorkerLostError):
            # nothing runs there any more
            return

    def _signed(self, member: "Member", reply: Json, count: int) -> tuple[Outcome, ...]:
        try:
            outcomes = tuple(read_outcome(o) for o in reply["outcomes"])
        except (LookupError, TypeError, ValueError, RecursionError) as error:
            raise WorkerLostError(f"it gave no outcome: {error}") from None
        if len(outcomes) != count:
            raise WorkerLostError(f"it gave {len(outcomes)} outcomes of {count}")
        return tuple(replace(o, device=f"{o.device} on {member.host}") if o.device else o for o in outcomes)


def check_whole(job: Job) -> None:
    """Raises Failed F206 if the program includes files: a worker has only the text of the C file."""
    source = Source(job.path, job.source)
    for found in _INCLUDE.finditer(job.source):
        if (Path(job.path).parent / found[1]).is_file():
            raise included(Span(source, found.start(1) - 1, found.end(1) + 1), found[1])
