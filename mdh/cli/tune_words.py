"""Reads the words of `mdh tune`: goals, devices, samplers. Wrong words are reported at their place."""

from dataclasses import dataclass

from mdh.cli.command_line import CommandLine, at_word
from mdh.cli.console import log
from mdh.cli.values import device_or_default
from mdh.results.goal import Goal
from mdh.tuner.duration import parse_duration
from mdh.tuner.runtime.processors import too_many

DEFAULT_BUDGET = "5m"


@dataclass(frozen=True, slots=True)
class TuneWords:
    """The options of `mdh tune`, as typed, besides those that all commands share."""

    budget: str | None = None
    trials: int | None = None
    until_speedup: float | None = None
    sampler: str | None = None
    model: bool = True
    seed: int = 0
    devices: str | None = None
    device: str | None = None
    jobs: int | None = None
    storage: str | None = None
    cluster: str | None = None
    output: str = "."
    record: str | None = None
    resume: bool = True
    replay: str | None = None
    machine: str | None = None
    html: str | None = None
    at: tuple[str, ...] = ()
    serve: int | None = None


def goal_of(line: CommandLine, words: TuneWords) -> Goal:
    """The goal. A search without a limit gets the default budget. Raises Failed F190, F196."""
    speedup = words.until_speedup
    if speedup is not None and not 1 < speedup < 1e9:
        raise line.fail(
            "F196", f"a speedup of {speedup:g} is no goal", _value(line, "--until-speedup"),
            help="it is the default's time over the best's: give a number above 1",
        )  # fmt: skip
    if words.trials is not None and words.trials < 1:
        raise line.fail(
            "F196", f"{words.trials} trials find nothing", _value(line, "--trials"), help="give 1 or more"
        )
    budget = words.budget
    if budget is None and words.trials is None and speedup is None and words.replay is None:
        log(f"no --budget, --trials or --until-speedup given: {DEFAULT_BUDGET}")
        budget = DEFAULT_BUDGET
    seconds = None if budget is None else at_word(line, budget, lambda: parse_duration(budget))
    return Goal(words.trials, seconds, speedup)


def _value(line: CommandLine, option: str) -> str:
    """The word that gives an option its value."""
    for at, word in enumerate(line.words):
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
        if word == option and at + 1 < len(line.words):
            return line.words[at + 1]
    return option


def devices_of(line: CommandLine, words: TuneWords, listed: str | None = None) -> tuple[str, ...]:
    """The devices: of --devices, of --device, of the project file, else the default device. None
    with a cluster, because its workers know their own. Raises Failed F192."""
    if words.devices is not None and words.device is not None:
        raise line.fail("F192", "--device and --devices are both given", words.device, help="keep --devices")
    if words.devices is None:
        one = listed if words.device is None else words.device
        return () if one is None and words.cluster is not None else (device_or_default(one),)
    names = tuple(name.strip() for name in words.devices.split(","))
    if "" in names:
        raise line.fail("F192", "--devices has an empty name", words.devices, help="write cuda:0,cuda:1")
    twice = next((n for n in names if names.count(n) > 1), None)
    if twice is not None:
        raise line.fail(
            "F192", f"--devices names `{twice}` twice", words.devices, help="name each device once"
        )
    return names


def check_words(line: CommandLine, words: TuneWords) -> None:
    """Raises Failed F196 for options that exclude one another, and for too many builders."""
    # on a cluster the workers' machines compile
    many = None if words.jobs is None or words.cluster is not None else too_many(words.jobs)
    if many is not None:
        raise line.fail("F196", many[0], _value(line, "--jobs"), help=many[1])
    if words.replay is None:
        if words.machine is not None:
            headline = "--machine is for --replay: a device says itself what it is"
            raise line.fail("F196", headline, words.machine, help="leave it out")
        return
    given = {
        "--device": words.device, "--devices": words.devices, "--cluster": words.cluster,
        "--record": words.record, "--storage": words.storage,
    }  # fmt: skip
    for option, value in given.items():
        if value is not None:
            headline = f"--replay simulates from a record: {option} has nothing to do"
            raise line.fail("F196", headline, value, help="leave one of the two out")
