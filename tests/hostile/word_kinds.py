"""Kinds of hostile input that are words of the command line, or whole texts in mdh's two languages."""

from collections.abc import Callable
from functools import cache
from random import Random

from mdh.frontend.c.read import read_program
from mdh.schedule.parser import parse_schedule
from mdh.schedule.printer import print_schedule
from mdh.source import Source
from mdh.textfile import decode
from tests.hostile import toml, words
from tests.hostile.kinds import Kind
from tests.hostile.verdict import Verdict, judged
from tests.support.corpus import WORKLOADS, schedules
from tests.support.mutations import mutate


def _kind(valid: tuple[bytes, ...], judge: Callable[[bytes], Verdict]) -> Kind:
    return Kind(lambda: valid, words.mutate_word, judge)


@cache
def _programs() -> tuple[bytes, ...]:
    return tuple(w.source.text.encode() for w in WORKLOADS.values())


@cache
def _schedules() -> tuple[bytes, ...]:
    texts = [s.source.text for s in schedules()]
    bare = [text for text in texts if "program " not in text and "target " not in text][:6]
    tables = [
        f"over M=1..64 N=8..{n}:8 {{\n{text}}}\nover N=1..64 M=7 {{\n{text}}}\n"
        for n, text in enumerate(bare, 64)
    ]
    return tuple(text.encode() for text in (*texts, *tables, *words.TABLES))


def _mutated(others: Callable[[], tuple[bytes, ...]]) -> Callable[[bytes, Random], bytes]:
    def mutated(data: bytes, chance: Random) -> bytes:
        texts = [text.decode() for text in others()]
        return mutate(chance, data.decode(), texts).encode("utf-8", "surrogatepass")

    return mutated


def _text_judge(name: str, read: Callable[[Source], str | None]) -> Callable[[bytes], Verdict]:
    """What is no text has no place to show; all else that is refused has one."""

    def judge(data: bytes) -> Verdict:
        found = judged(lambda: _nothing(decode(name, data)))
        return judged(lambda: read(decode(name, data)), placed=True) if found.outcome == "returned" else found

    return judge


def _nothing(source: Source) -> None:
    """It could be decoded."""


def _read(source: Source) -> None:
    read_program(source)


def _read_twice(source: Source) -> str | None:
    schedule = parse_schedule(source)
    again = parse_schedule(Source("printed.mdh", print_schedule(schedule)))
    return None if again == schedule else "printed and read again it is another schedule"


WORDS = {
    "command": Kind(words.command_lines, words.mutate_command, words.judge_command),
    "project run": Kind(toml.project_files, toml.mutate_project, words.judge_project_run),
    "define": _kind((b"N=1024", b"N=0x20", b"T=float", b"FLAG", b"N=8"), words.judge_define),
    "set": _kind((b"bm=8", b"where=SM", b"?bm=4", b"where=RM"), words.judge_set),
    "input": _kind((b"s=2.5", b"A=a.npy", b"s=1e3", b"s=-7", b"A=empty", b"A=noise.bin"), words.judge_input),
    "device": _kind((b"opencl:0", b"cuda:1", b"c", b"oclgrind", b"opencl"), words.judge_device),
    "duration": _kind((b"3h", b"5m", b"30s", b"1h30m", b"1.5h", b"1h0m1s"), words.judge_duration),
    "machine name": _kind((b"h200", b"generic-cpu", b"m.toml", b"empty"), words.judge_machine_name),
}
TEXTS = {
    "c": Kind(_programs, _mutated(_programs), _text_judge("f.c", _read)),
    "schedule": Kind(_schedules, _mutated(_schedules), _text_judge("s.mdh", _read_twice)),
}
