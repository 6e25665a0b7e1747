"""Merging drops nothing: not a trial, not a field, not a line of a kind that this mdh does not know."""

import os
from pathlib import Path

import pytest

from mdh.diagnostics import Failed
from mdh.tuner.records.file import Record
from mdh.tuner.records.line import seal, unseal
from mdh.tuner.records.merge import merge
from mdh.tuner.records.read import read_contents, read_record
from tests.tune.records.samples import header, trial, write


def _objects(path: Path) -> list[dict[str, object]]:
    return [unseal(line) for line in path.read_bytes().splitlines()]


def _paths(folder: Path, *names: str) -> tuple[Path, ...]:
    return tuple(folder / f"{name}.jsonl" for name in names)


def test_the_union_holds_every_trial_once(tmp_path: Path) -> None:
    a, b, out = _paths(tmp_path, "a", "b", "out")
    first = write(a, 4)
    with Record.open(str(b), header()) as record:
        for one in (*first[2:], trial(9, 2.0)):
            record.append(one)
    before = a.read_bytes(), b.read_bytes()
    assert merge(str(out), [str(a), str(b)]) == ()
    assert read_record(str(out)) == (header(), (*first, trial(9, 2.0)), ())
    assert (a.read_bytes(), b.read_bytes()) == before


def test_merging_again_changes_nothing(tmp_path: Path) -> None:
    a, b, out = _paths(tmp_path, "a", "b", "out")
    write(a, 3)
    write(b, 2, N=32)
    merge(str(out), [str(a), str(b)])
    once = out.read_bytes()
    merge(str(out), [str(b), str(a)])
    assert out.read_bytes() == once


def test_different_tunings_keep_their_headers(tmp_path: Path) -> None:
    a, b, out = _paths(tmp_path, "a", "b", "out")
    first, second = write(a, 2), write(b, 3, N=32)
    merge(str(out), [str(a), str(b)])
    sections = read_contents(str(out)).sections
    assert [(s.header, s.trials) for s in sections] == [(header(), first), (header(N=32), second)]
    assert read_record(str(out), header(N=32).mark[:6])[1] == second
    with pytest.raises(Failed, match="F176"):
        read_record(str(out))
    with Record.open(str(out), header(N=32)) as record:
        assert tuple(record.trials) == second


def test_what_out_holds_stays(tmp_path: Path) -> None:
    a, out = _paths(tmp_path, "a", "out")
    write(a, 1)
    kept = write(out, 2, N=32)
    merge(str(out), [str(a)])
    assert read_record(str(out), header(N=32).mark)[1] == kept


def test_unknown_fields_and_lines_are_kept(tmp_path: Path) -> None:
    a, out = _paths(tmp_path, "a", "out")
    write(a, 1)
    fields = {**_objects(a)[1], "trial": 1, "energy": {"joule": 2.5}}
    note = {"kind": "note", "text": "by a newer mdh", "record": header().mark}
    a.write_bytes(a.read_bytes() + seal(fields) + seal(note))
    merge(str(out), [str(a), str(a)])
    assert fields in _objects(out)
    assert note in _objects(out)
    assert len(_objects(out)) == 4


def test_damaged_lines_of_out_are_put_aside(tmp_path: Path) -> None:
    a, out = _paths(tmp_path, "a", "out")
    write(a, 1)
    trials = write(out, 3)
    data = out.read_bytes().replace(b'"trial":1', b'"trial":7')
    out.write_bytes(data + b'{"torn')
    remarks = merge(str(out), [str(a)])
    assert len(remarks) == 2
    assert read_record(str(out)) == (header(), (trials[0], trials[2]), ())
    aside = Path(f"{out}.damaged").read_bytes().splitlines()
    assert aside == [data.splitlines()[2], b'{"torn']


def test_a_lost_header_comes_back_from_another_copy(tmp_path: Path) -> None:
    a, b, out = _paths(tmp_path, "a", "b", "out")
    trials = write(a, 3)
    write(b, 1)
    data = bytearray(a.read_bytes())
    data[60] ^= 2
    a.write_bytes(data)
    merge(str(out), [str(a), str(b)])
    assert read_record(str(out))[:2] == (header(), trials)


def test_a_record_in_use_is_not_replaced(tmp_path: Path) -> None:
    a, out = _paths(tmp_path, "a", "out")
    write(a, 2)
    with Record.open(str(out), header()) as record:
        with pytest.raises(Failed, match="F173"):
            merge(str(out), [str(a)])
        record.append(trial(5, 1.0))
        # reading what another process writes is safe: whole lines alone are seen
        merge(str(tmp_path / "copy.jsonl"), [str(a), str(out)])
    assert read_record(str(out))[1] == (trial(5, 1.0),)


def test_nothing_is_written_where_an_input_is_refused(tmp_path: Path) -> None:
    a, b, out = _paths(tmp_path, "a", "b", "out")
    write(a, 1)
    for text in (b"no record\n", seal({"schema": "mdh.record/2"}), None):
        if text is not None:
            b.write_bytes(text)
        else:
            b.unlink()
        with pytest.raises(Failed):
            merge(str(out), [str(a), str(b)])
        assert not out.exists()


def test_a_lock_taken_while_the_file_is_replaced_is_taken_again(tmp_path: Path) -> None:
    a, out = _paths(tmp_path, "a", "out")
    write(a, 1)
    write(out, 1)
    before = os.stat(out).st_ino
    merge(str(out), [str(a)])
    assert os.stat(out).st_ino != before
    with Record.open(str(out), header()) as record:
        record.append(trial(3, 1.0))
    assert trial(3, 1.0) in read_record(str(out))[1]
