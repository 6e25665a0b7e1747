"""Writes a record of the default schedule alone."""

from pathlib import Path

from mdh.frontend.c.read import read_program
from mdh.machine import load_machine
from mdh.pipeline import Pipeline
from mdh.results.trial import Candidate, Outcome, Trial
from mdh.schedule.parser import parse_schedule
from mdh.source import Source
from mdh.tuner.records.file import Record
from mdh.tuner.records.header import header_of
from mdh.tuner.records.key import Setting, candidate_key

program = read_program(Source("input.c", Path("input.c").read_text()))
machine = load_machine("a100")
setting = Setting(machine, "cuda", "NVIDIA A100")
template = parse_schedule(Source("schedule.mdh", Path("schedule.mdh").read_text()))
text = Pipeline().check(program, None, machine, "cuda").plan.text
key = candidate_key(program, parse_schedule(Source("default", text)), setting)
with Record.open("old.jsonl", header_of(program, template, setting)) as record:
    record.append(Trial(0, Candidate(key, text), "default", "quick", Outcome(None, warm=(2e-6, 2e-6))))
