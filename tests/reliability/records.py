"""R21 and R22: forms of records that were released once, and changes that keys must show."""

import tempfile
from pathlib import Path

from mdh.diagnostics import Failed
from mdh.tuner.records.form import SCHEMA
from mdh.tuner.records.line import seal, unseal
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import read_record
from tests.reliability.row import Found, Setting
from tests.reliability.suites import suite
from tests.tune.records import test_key as keys

FIXTURES = Path(keys.__file__).parent / "fixtures"
FORM, _, LAST = SCHEMA.rpartition("/")
"""The name of the form, and the number of its newest version."""
SINGLE = 40
"""Changes that the target asks for."""


def forms(setting: Setting) -> Found:
    """R21: every version up to the newest has a file that was written by it, and is never written again."""
    versions = range(1, int(LAST) + 1)
    there = [n for n in versions if (FIXTURES / f"record-{n}.jsonl").exists()]
    whole = [(n, trials) for n in there if (trials := _whole(FIXTURES / f"record-{n}.jsonl"))]
    refused = _newer_is_refused(FIXTURES / f"record-{there[-1]}.jsonl")
    passed, failed = suite("tests/tune/records/test_fixtures.py", "tests/tune/records/test_merge.py")
    told = ", ".join(f"record-{n} with {trials} trials" for n, trials in whole)
    newer = "refused (F171)" if refused else "NOT refused"
    return Found(
        f"{len(whole)} of {len(versions)} released: {told}, read without a remark and merged whole; a newer"
        f" one is {newer}; of the tests of files and merges {passed} pass, {failed} fail",
        len(whole) == len(there) and refused and passed > 0 and not failed, len(there), len(versions),
    )  # fmt: skip


def _whole(path: Path) -> int:
    """Trials of a record that loads without a remark, and of which a merge drops nothing; else 0."""
    _, trials, remarks = read_record(str(path))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "merged.jsonl"
        merge(str(out), [str(path)])
        same = sorted(out.read_bytes().splitlines()) == sorted(path.read_bytes().splitlines())
    return len(trials) if same and not remarks else 0


def _newer_is_refused(path: Path) -> bool:
    """The same file as a later mdh would have begun it."""
    first, *rest = path.read_bytes().splitlines(keepends=True)
    header = seal({**unseal(first.rstrip(b"\n")), "schema": f"{FORM}/{int(LAST) + 1}"})
    with tempfile.TemporaryDirectory() as folder:
        newer = Path(folder) / "newer.jsonl"
        newer.write_bytes(b"".join((header, *rest)))
        try:
            read_record(str(newer))
        except Failed as failed:
            return failed.diagnostics[0].code == "F171"
    return False


def key_changes(setting: Setting) -> Found:
    """R22: every single change has a key of its own, and no spelling has."""
    start = keys.key_of_case(keys.START)
    changed = {keys.key_of_case(keys.applied(name)) for name in keys.CHANGES} - {start}
    respelled = [
        *(keys.respelled_c(*pair) for pair in keys.SPELLINGS_OF_C),
        *(keys.respelled_schedule(*pair) for pair in keys.SPELLINGS_OF_SCHEDULES),
    ]
    same = sum(keys.key_of_case(case) == start for case in respelled)
    return Found(
        f"{len(changed)} of {len(keys.CHANGES)} single changes change the key, each in a way of its own;"
        f" {same} of {len(respelled)} comments, spaces and spellings leave it as it is",
        len(changed) == len(keys.CHANGES) and same == len(respelled), len(keys.CHANGES), SINGLE,
    )  # fmt: skip
