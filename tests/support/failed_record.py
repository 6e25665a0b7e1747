"""A record of the program `add` in which both candidates failed."""

from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.results.trial import Candidate, Failure, Outcome, Trial
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.file import Record
from mdh.tuner.records.header import header_of
from mdh.tuner.records.key import Setting, candidate_key

TEXT = "target a100\nprogram add\n\n1: (de-)comp( {} ) ( ^, ^ ; ^ ) ( BLK.x )\n"


def write_failed_record(path: str, c_text: str) -> None:
    """c_text: the C file."""
    program = read_program(Source("input.c", c_text))
    setting = Setting(load_machine("a100"), "cuda", "NVIDIA A100")
    template = parse_schedule(Source("s.mdh", TEXT.format("?{32,64}")))
    with Record.open(path, header_of(program, template, setting)) as record:
        for number, tile in enumerate((32, 64)):
            schedule = parse_schedule(Source("s.mdh", TEXT.format(tile)))
            key = candidate_key(program, schedule, setting)
            candidate = Candidate(key, TEXT.format(tile), (("1.tile.i", tile),))
            outcome = Outcome(Failure.COMPILE, code="D103", message="the compiler refuses it\nat line 3")
            record.append(Trial(number, candidate, "tpe", "quick", outcome))
