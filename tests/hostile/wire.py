"""Messages between processes as a broken or hostile process might write them: answers of workers on other
machines, requests to them, answers of the bench's own workers."""

import json
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

from mdh.diagnostics import fail
from mdh.machine import load_machine, print_machine
from mdh.results.trial import QUICK, Candidate, Effort, Failure, Job, Limits, Outcome
from mdh.schema import convert
from mdh.tuner.cluster.inventory import Inventory, dead, holder, named
from mdh.tuner.cluster.member import unlike
from mdh.tuner.cluster.messages import (
    candidate_json,
    outcome_json,
    read_answer,
    read_outcome,
    read_request,
)
from mdh.tuner.measure.wire import (
    NonsenseError,
    demanded,
    failed_json,
    greeting,
    parsed,
    read_failed,
    read_ground,
)
from mdh.tuner.records.line import BadLineError
from tests.hostile.pieces import damaged
from tests.hostile.verdict import Verdict, judged

Json = dict[str, Any]
_CANDIDATE = Candidate("00" * 32, "1: (de-)comp( ^ ) ( ^ ; ^ ) ( FOR.1 )\n", (("?a", 4),))
_RIGHT = Outcome(None, warm=(1e-3, 2e-3), cold=(3e-3,), clock="device", device="cuda:0", title="a GPU",
                 resources=(("registers", 32),), versions=(("mdh", "0.1.0"),))  # fmt: skip
_WRONG = Outcome(Failure.WRONG, "N101", "it is wrong")
_JOB = Job("f.c", "void f(void) {}", (("N", 4), ("T", "float")), "f", device="cuda:0")
_HERE = Inventory("0.1.0 (abc)", "one", "boot", 7, (0, 1), "0,1", (("cuda:0", "a GPU", "gpu"),), "cuda:0")
_REFUSAL = {"failed": failed_json(fail("D120", "the device is lost", help="look at it"))}
_RUNS = {"warm": [1e-3], "cold": [], "clock": "device", "stopped": False}
_GREETING = {"title": "a GPU", "target": "cuda", "machine": print_machine(load_machine("h200")),
             "versions": [["mdh", "0.1.0"]]}  # fmt: skip


def _line(do: str, value: Json) -> bytes:
    return json.dumps([do, value]).encode()


def answers() -> tuple[bytes, ...]:
    """[what was asked, the answer]: of a worker on another machine."""
    begun = {**_GREETING, "slots": 3}
    outcomes = {"outcomes": [outcome_json(_CANDIDATE, _RIGHT), outcome_json(_CANDIDATE, _WRONG)]}
    busy = {"busy": "other", "holder": holder()}
    rows = [("look", asdict(_HERE)), ("begin", begun), ("begin", busy), ("begin", _REFUSAL),
            ("measure", outcomes), ("measure", {"lost": True}), ("measure", _REFUSAL), ("beat", {}),
            ("end", {})]  # fmt: skip
    return tuple(_line(do, value) for do, value in rows)


def requests() -> tuple[bytes, ...]:
    """Of a tuner to such a worker."""
    begin = {"do": "begin", "session": "s", "holder": holder(), "job": asdict(_JOB), "devices": ["cuda:0"],
             "jobs": None, "force": ""}  # fmt: skip
    measure = {"do": "measure", "session": "s", "trial": "1", "candidates": [candidate_json(_CANDIDATE)],
               "effort": asdict(QUICK), "limits": asdict(Limits())}  # fmt: skip
    others = ({"do": "look"}, {"do": "stop", "session": "s", "trial": "1"}, {"do": "end", "session": "s"})
    return tuple(json.dumps(r).encode() for r in (begin, measure, *others))


def replies() -> tuple[bytes, ...]:
    """[what was asked, the answer]: of a worker of the bench; `hello`: its first message."""
    built = {"text": "/t/1.json", "image": "", "seconds": 0.5, "resources": [["registers", 32]]}
    timed = {"results": [_RUNS, _REFUSAL], "clocks": [1980.0], "seconds": 0.5}
    rows = [("build", built), ("build", {**_REFUSAL, "poisoned": False}), ("expect", {"seconds": 0.1}),
            ("load", {"seconds": 0.1}), ("time", timed), ("hello", _GREETING), ("hello", {})]  # fmt: skip
    return tuple(_line(do, value) for do, value in rows)


_ODD = (
    None, True, False, 0, -1, 1 << 31, 1 << 63, 10**400, 1.5, float("nan"), float("inf"), -1e300, 1e-320, "",
    "x", "\0", "\ud800", "\x1b[2J", "x" * 100_000, [], [[]], [None], {}, {"": None}, [1, 2, 3], ["a", "b"],
    [["a", "b"]], {"lost": True}, {"failed": []},
)  # fmt: skip
_NOISE = (b"NaN", b"Infinity", b"-Infinity", b"1e999", b"9" * 5000, b"[" * 5000, b"{", b"}", b"]", b'"', b",",
          b"null", b"true", b"\\ud800", b'{"":' * 3000, b":", b'"failed"', b'"lost"')  # fmt: skip


def mutate(data: bytes, chance: Random) -> bytes:
    """Other values in the object, fields that go or come, or damage to the text."""
    if chance.random() < 0.4:
        return damaged(data, chance, _NOISE)
    value = json.loads(data)
    for _ in range(chance.choice((1, 1, 2, 4))):
        value = _changed(value, chance, 0.15)
    return json.dumps(value).encode("utf-8")


def _changed(value: Any, chance: Random, often: float) -> Any:
    """One value of many, at any depth, is another."""
    if chance.random() < often:
        return chance.choice(_ODD)
    if isinstance(value, dict) and value:
        name = chance.choice(list(value))
        match chance.randrange(8):
            case 0:
                return {n: v for n, v in value.items() if n != name}
            case 1:
                return {
                    **value,
                    chance.choice(("x", "failed", "lost", "busy", "do", "")): chance.choice(_ODD),
                }
            case _:
                return {**value, name: _changed(value[name], chance, 0.3)}
    if isinstance(value, list) and value:
        at = chance.randrange(len(value))
        match chance.randrange(8):
            case 0:
                return value[:at] + value[at + 1 :]
            case 1:
                return value * chance.choice((2, 100))
            case _:
                return [*value[:at], _changed(value[at], chance, 0.3), *value[at + 1 :]]
    return chance.choice(_ODD)


def _judged(work: Callable[[], None]) -> Verdict:
    """A message is used or told to be nonsense; nothing else comes of it."""
    told: list[Exception] = []

    def tried() -> None:
        try:
            work()
        except (NonsenseError, BadLineError) as error:
            told.append(error)

    verdict = judged(tried)
    return Verdict(True, str(told[0])) if verdict.fine and told else verdict


def _parts(data: bytes, known: tuple[str, ...]) -> tuple[str, bytes]:
    """What was asked, and the text of the answer; of a text that is damaged, all of it."""
    try:
        do, value = json.loads(data)
        text = json.dumps(value).encode("utf-8")
    except (ValueError, TypeError, RecursionError):
        return known[len(data) % len(known)], data
    return (do if do in known else known[0]), text


_ASKED = ("look", "begin", "measure", "stop", "beat", "end")


def judge_answer(data: bytes) -> Verdict:
    """What the tuner does with an answer, up to where it uses it."""
    do, text = _parts(data, _ASKED)

    def work() -> None:
        answer = read_answer(do, text.decode("utf-8", errors="surrogateescape"))
        if do == "look":
            there = convert(answer, Inventory)
            assert there.places(there.chosen(())) is not None
        elif "failed" in answer:
            assert str(read_failed(answer["failed"]))
        elif "busy" in answer:
            assert named(answer["holder"])
            dead(answer["holder"])
        elif "outcomes" in answer:
            for one in answer["outcomes"]:
                seconds = read_outcome(one).seconds
                assert seconds is None or 0 <= seconds < float("inf")
        elif do == "begin" and "slots" in answer:
            ground = read_ground(answer)
            assert unlike(ground, ground) == ""

    return _judged(work)


def judge_request(data: bytes) -> Verdict:
    """What a worker does with a request, up to where it uses it."""

    def work() -> None:
        request = read_request(data.decode("utf-8", errors="surrogateescape"))
        if request["do"] == "begin":
            job = convert(request["job"], Job)
            assert hash(job) is not None
            dead(request["holder"])
        elif request["do"] == "measure":
            assert all(hash(Candidate(**c)) for c in request["candidates"])
            effort, limits = Effort(**request["effort"]), Limits(**request["limits"])
            assert effort.seconds >= 0 and limits.trial >= 0

    return _judged(work)


def judge_reply(data: bytes) -> Verdict:
    """What the bench does with a worker's reply, up to where it uses it."""
    do, text = _parts(data, ("build", "expect", "load", "time", "hello"))

    def work() -> None:
        reply = parsed(text)
        reply = greeting(reply) if do == "hello" else demanded({"do": do, "names": ["a", "b"]}, reply)
        if "failed" in reply:
            assert str(read_failed(reply["failed"]))
        elif do == "build":
            assert float(reply["seconds"]) >= 0
            assert all(int(value) is not None for _, value in reply["resources"])
        elif do == "time":
            for one in reply["results"]:
                runs = Outcome(None, warm=tuple(one.get("warm", ())))
                assert runs.seconds is None or runs.seconds == runs.seconds

    return _judged(work)
