"""The bench of one machine: builders that may hang or crash, and one measuring process for each device."""

import asyncio
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Self

from mdh.device.cache import Cache
from mdh.folders import PrivateFolder
from mdh.ir.numerics import ByStage
from mdh.language import LANGUAGES
from mdh.results.trial import THOROUGH, Candidate, Effort, Job, Limits, Outcome
from mdh.tuner.measure.bench import Ground
from mdh.tuner.measure.failures import different, no_room, system_said, unjudged, unstarted
from mdh.tuner.measure.folder import environment, make_folder, trim_runtime
from mdh.tuner.measure.guardian import Guardian
from mdh.tuner.measure.outage import Outage, Say, silent
from mdh.tuner.measure.outcomes import Kills, Patience, asked, final, refused_reply, timed
from mdh.tuner.measure.posts import Post, Posts, Quiet
from mdh.tuner.measure.process import Command, Died, Worker
from mdh.tuner.measure.progress import Progress
from mdh.tuner.measure.wire import Json, numerics_json, read_failed, read_ground, read_numerics
from mdh.tuner.runtime.background import in_background
from mdh.tuner.runtime.processors import processors

_TRIMMED = 100
"""Trials between two checks of what the runtimes keep."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A candidate that was built, with the files of its text and machine code, named for this trial."""

    name: str
    text: Path
    image: Path | None
    resources: tuple[tuple[str, int], ...]
    seconds: float
    numerics: ByStage

    def forget(self) -> None:
        self.text.unlink(missing_ok=True)
        if self.image is not None:
            self.image.unlink(missing_ok=True)


class LocalBench:
    """`async with LocalBench(job) as bench`. After that `ground` describes what is measured on. devices: of
    one model, measured in parallel; without them, the job's. jobs: the number of builders. say: called with
    remarks on faults of the machine, which are waited for (Outage)."""

    ground: Ground

    def __init__(
        self, job: Job, devices: tuple[str, ...] = (), jobs: int | None = None, cache: Cache | None = None,
        *, say: Say = silent,
    ) -> None:  # fmt: skip
        self.job, self.devices, self.cache = job, devices or (job.device,), cache
        self.jobs = jobs or processors()
        self.slots = self.jobs + len(self.devices)
        self._say = say
        self.doing: Say = silent
        """Is told what the bench does now, for those who show that."""
        self._building, self._measuring = Outage(say), Outage(say)
        self._kills = Kills()
        self._guardian: Guardian | None = None
        self._patience = Patience()
        self._sets: dict[tuple[int, ByStage], asyncio.Task[None]] = {}
        self._built: dict[str, tuple[ByStage, float]] = {}
        self._since: dict[tuple[int, ByStage], float] = {}
        self._took = 0.0
        self._trials = self._named = 0
        self._held: PrivateFolder | None = None
        self._measurers = self._builders = Posts(())

    async def __aenter__(self) -> Self:
        """Raises Failed: D1xx the device cannot be used, D132 no room for its files, D133 no process starts,
        D134 devices of several models, and any error of the program."""
        try:
            held = self._held = make_folder(self.job)
        except OSError as error:
            raise no_room(error) from None
        try:
            self._guardian = Guardian()
        except OSError as error:
            await self.close()
            raise unstarted(f"the system starts none: {error.strerror}") from None
        self._folder = held.path
        self._quiet = Quiet(needed=False)
        try:
            if self.cache is not None:
                await in_background(self.cache.trim)
            measurers = tuple(self._post("measure", i, d) for i, d in enumerate(self.devices))
            self._measurers = Posts(measurers, self._say)
            await asyncio.gather(*(post.first() for post in measurers))
            self._settle([post.about for post in self._measurers.all])
        except BaseException as error:
            await self.close()
            if isinstance(error, OSError):
                raise no_room(error) from None
            raise
        builders = (self._post("build", i, self.devices[0]) for i in range(self.jobs))
        self._builders = Posts(tuple(builders), self._say)
        for post in self._builders.all:
            await post.renew()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Ends every process within two seconds."""
        for task in self._sets.values():
            task.cancel()
        self._building.closed = self._measuring.closed = True
        await asyncio.gather(self._measurers.close(), self._builders.close())
        if self._guardian is not None:
            self._guardian.close()
            self._guardian = None
        held, self._held = self._held, None
        if held is not None:
            held.remove()

    async def trial(self, candidate: Candidate, effort: Effort, limits: Limits) -> Outcome:
        """See mdh.tuner.measure.bench.Bench."""
        self._trials += 1
        if self._trials % _TRIMMED == 0:
            await in_background(lambda: trim_runtime(self._folder))
        return (await self.duel((candidate,), effort, limits))[0]

    async def duel(
        self, finalists: tuple[Candidate, ...], effort: Effort, limits: Limits
    ) -> tuple[Outcome, ...]:
        """See mdh.tuner.measure.bench.Bench."""
        self.doing("builds the kernels")
        built = await asyncio.gather(*(self._build(c, effort, limits) for c in finalists))
        ready = [b for b in built if isinstance(b, Ready)]
        try:
            found = await self._measure(ready, effort, limits) if ready else {}
        finally:
            for one in ready:
                one.forget()
        return tuple(found[b.name] if isinstance(b, Ready) else b for b in built)

    def ahead(self, finalists: tuple[Candidate, ...]) -> float:
        """See mdh.tuner.measure.bench.Bench. The processes are those of the duel and of the winner. Results
        that are still to be computed take as long as the slowest so far. What the cache has is not built
        again; a runtime that compiles may have to make a binary of the text first."""
        built = [self._built[c.key] for c in finalists if c.key in self._built]
        again = self.cache is None or not LANGUAGES[self.ground.target].offline
        building = max((seconds for _, seconds in built), default=0.0) if again else 0.0
        sets = [(number, one) for one in {n for n, _ in built} for number in range(THOROUGH.inputs)]
        now = monotonic()
        under_way = [self._since[s] for s in sets if s in self._sets and not self._sets[s].done()]
        rest = max((self._took - (now - since) for since in under_way), default=0.0)
        rounds = -(-sum(s not in self._sets for s in sets) // self.jobs)
        start = max((post.seconds for post in self._measurers.all), default=0.0)
        return building + max(0.0, rest) + rounds * self._took + start * min(2, len(finalists))

    async def expected(self, sets: int) -> Path:
        """The folder of the expected results of `sets` sets of arrays, for `read_set`. Raises D135."""
        await self._expect(sets, {()})
        return self._folder / "expected"

    def _post(self, role: str, number: int, spec: str) -> Post:
        name = f"{role}-{number}"
        words = ["--role", role, "--folder", str(self._folder), "--device", spec, "--number", name]
        if role == "build" and self.cache is not None:
            words += ["--cache", str(self.cache.folder)]
        progress = Progress(self._folder / f"{name}.at") if role == "measure" else None
        command = Command(tuple(words), environment(self._folder))
        # the measuring worker has read what a builder reads
        return Post(
            spec, command, self._quiet, progress, self._guardian, self._kills, proved=role == "build"
        )  # fmt: skip

    def _settle(self, abouts: list[Json]) -> None:
        """Keeps what builders and the caller must know of the devices."""
        titles = sorted({a["title"] for a in abouts})
        if len(titles) > 1:
            raise different(self.devices, titles)
        self.ground = read_ground(abouts[0])
        self._quiet.needed = self.ground.machine.kind == "cpu"
        (self._folder / "machine.toml").write_text(abouts[0]["machine"], encoding="utf-8")
        (self._folder / "target").write_text(self.ground.target, encoding="utf-8")

    async def _build(self, candidate: Candidate, effort: Effort, limits: Limits) -> Ready | Outcome:
        self._named += 1
        name = str(self._named)
        request: Json = {"do": "build", "name": name, "key": candidate.key, "schedule": candidate.schedule}
        request["keep"] = final(effort)
        limit = min(limits.build, limits.trial)

        async def attempt() -> Ready | Outcome | None:
            async with self._builders.taken() as (_, worker):
                reply = await asked(worker, request, limit, lambda: name, self._kills)
            return _ready(name, reply) if isinstance(reply, dict) else reply

        while (built := await self._building.overcome(attempt)) is None:
            # it was killed through no fault of its own
            pass
        self._kills.forget(name)
        if isinstance(built, Ready):
            self._built[candidate.key] = built.numerics, built.seconds
        return built

    async def _measure(self, ready: list[Ready], effort: Effort, limits: Limits) -> dict[str, Outcome]:
        """One round of finals. It settles at least one candidate, unless its worker was killed or the machine
        was at fault. The next round measures the others again."""
        numerics = {r.numerics for r in ready}
        self.doing("computes the results to judge by")
        await self._building.overcome(lambda: self._expect(effort.inputs, numerics))
        if self.jobs > THOROUGH.inputs:
            # the finals judge on more sets: they are made while the search goes on
            self._begin_expecting(THOROUGH.inputs, numerics)
        out: dict[str, Outcome] = {}

        async def attempt() -> None:
            pending = [r for r in ready if r.name not in out]
            # earlier work of a process must not influence the finals
            async with self._measurers.taken(fresh=final(effort)) as (post, worker):
                found = await self._round(post, worker, pending, effort, limits)
            out.update((r.name, self._signed(found[r.name], r, post)) for r in pending if r.name in found)

        while len(out) < len(ready):
            await self._measuring.overcome(attempt)
        for one in ready:
            self._kills.forget(one.name)
        return out

    async def _round(
        self, post: Post, worker: Worker, pending: list[Ready], effort: Effort, limits: Limits
    ) -> dict[str, Outcome]:
        out: dict[str, Outcome] = {}
        loaded: dict[str, float] = {}
        for ready in pending:
            reply = await self._load(worker, ready, effort, limits)
            if isinstance(reply, dict):
                loaded[ready.name] = float(reply["seconds"])
                continue
            if reply is not None:
                out[ready.name] = reply
            if reply is None or not worker.alive:
                return out
        spent = [r.seconds + loaded[r.name] for r in pending if r.name in loaded]
        return {**out, **await self._time(post, worker, loaded, min(spent), effort, limits)} if spent else out

    async def _load(
        self, worker: Worker, ready: Ready, effort: Effort, limits: Limits
    ) -> Json | Outcome | None:
        self.doing("judges the kernels")
        limit = min(self._patience.launch(effort, limits), max(1.0, limits.trial - ready.seconds))
        image = "" if ready.image is None else str(ready.image)
        request: Json = {"do": "load", "name": ready.name, "text": str(ready.text), "image": image}
        request["sets"] = effort.inputs
        return await asked(worker, request, limit, lambda: ready.name, self._kills)

    async def _time(
        self, post: Post, worker: Worker, loaded: dict[str, float], spent: float, effort: Effort,
        limits: Limits,
    ) -> dict[str, Outcome]:  # fmt: skip
        """loaded: seconds that loading took, by name. spent: the least seconds of building and loading."""
        limit = min(self._patience.measure(effort, limits), max(1.0, limits.trial - spent)) * len(loaded)
        request = {"do": "time", "names": list(loaded), "effort": asdict(effort)}
        progress = post.progress
        assert progress is not None
        self.doing("times the kernels")
        async with self._quiet.around(worker):
            reply = await asked(worker, request, limit, lambda: progress.name, self._kills)
        if not isinstance(reply, dict):
            return {} if reply is None else {progress.name: reply}
        each = float(reply["seconds"]) / len(loaded)
        out = {}
        for (name, seconds), result in zip(loaded.items(), reply["results"], strict=True):
            outcome = refused_reply(result) if "failed" in result else timed(result)
            out[name] = replace(
                outcome, check_seconds=seconds, measure_seconds=each, clocks=tuple(reply["clocks"])
            )
            self._patience.saw(out[name])
        return out

    async def _expect(self, sets: int, numerics: set[ByStage]) -> None:
        """Runs the reference once for each set and for each of the numerics, in a builder."""
        begun = self._begin_expecting(sets, numerics)
        await asyncio.gather(*map(asyncio.shield, begun))

    def _begin_expecting(self, sets: int, numerics: set[ByStage]) -> list["asyncio.Task[None]"]:
        keys = [(number, one) for one in numerics for number in range(max(1, sets))]
        new = [
            k for k in keys if (known := self._sets.get(k)) is None or (known.done() and known.exception())
        ]
        # there is a builder for each processor: more threads than this would only wait for one another
        threads = max(1, min(self.jobs, processors()) // max(1, len(new)))
        for key in new:
            self._since[key] = monotonic()
            task = self._sets[key] = asyncio.create_task(self._reference(*key, threads))
            # asyncio complains of an exception that nothing reads, and no candidate may need this set
            task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return [self._sets[key] for key in keys]

    async def _reference(self, number: int, numerics: ByStage, threads: int) -> None:
        name = f"the results of set {number}"
        request: Json = {"do": "expect", "set": number, "numerics": numerics_json(numerics)}
        request["threads"] = threads
        while True:
            async with self._builders.taken() as (_, worker):
                try:
                    reply = await worker.ask(request, None)
                except Died as died:
                    if died.status > 0 and system_said(died.words):
                        raise no_room(OSError(died.words)) from None
                    if self._kills.blame(name):
                        raise unjudged(str(died)) from None
                else:
                    failed = read_failed(reply["failed"]) if "failed" in reply else None
                    # a process that gets no memory may be alone in that: another one is asked
                    starved = failed is not None and failed.diagnostics[0].code == "D104"
                    if reply.get("poisoned") or starved:
                        await worker.kill()
                    if failed is None or not starved or self._kills.believe(name):
                        self._kills.forget(name)
                        if failed is None:
                            # without the start of the process, which the first request waits for
                            self._took = max(self._took, float(reply["seconds"]))
                            return
                        raise failed

    def _signed(self, outcome: Outcome, ready: Ready, post: Post) -> Outcome:
        return replace(
            outcome, build_seconds=ready.seconds, resources=ready.resources, device=post.spec,
            title=self.ground.title, versions=self.ground.versions,
        )  # fmt: skip


def _ready(name: str, reply: Json) -> Ready:
    image = Path(reply["image"]) if reply["image"] else None
    resources = tuple((resource, int(value)) for resource, value in reply["resources"])
    numerics = read_numerics(reply["numerics"])
    return Ready(name, Path(reply["text"]), image, resources, float(reply["seconds"]), numerics)
