from pathlib import Path

from tests.support.failed_record import write_failed_record

write_failed_record("old.jsonl", Path("input.c").read_text())
