"""Writes a record of other sizes."""

from pathlib import Path

from tests.support.failed_record import write_failed_record

write_failed_record("old.jsonl", Path("input.c").read_text().replace("64", "32"))
