"""Errors of several steps come together, in the order of the text, each at its place in the whole text."""

from random import Random

import pytest

from mdh.diagnostics import Failed
from mdh.schedule.parser import parse_schedule
from mdh.source import Source

STEPS = {
    "(de-)comp( 16, 16 ^ ) ( ^, ^ ; ^ ) ( BLK.y, BLK.x, ^ )": "S101",
    "(de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ ) ( THR.y, BLA.x, ^ )": "S107",
    "(de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, FOR. )": "S101",
    "(de-)comp( ^, ^, 1 ) ( ^, ^ ; ^ ) ( ^, ^, FOR.1": "S106",
    "(de-)comp( ^, ?{1, 2 4}, 1 ) ( ^, ^ ; ^ ) ( ^, ^, ^ )": "S101",
    "(de-)comp( 4, 4, ^ ) ( ^, ^ ; ^ ) ( THR.y, THR.x, ^ )": "",
}


@pytest.mark.parametrize("seed", range(40))
def test_every_step_is_looked_at(seed: int) -> None:
    chance = Random(seed)
    drawn = chance.choices(list(STEPS.items()), k=chance.randrange(1, 8))
    # the last one is right: where it ends, a bracket before it is missed
    drawn.append(("(de-)comp( 1, 1, ^ ) ( ^, ^ ; ^ ) ( FOR.1, FOR.2, ^ )", ""))
    rows = [f"{n}: {text}" for n, (text, _) in enumerate(drawn, 1)]
    if chance.random() < 0.5:
        rows = ["stage C {", *rows, "}"]
    source = Source("s.mdh", "// ( a comment\n" + "\n".join(rows) + "\n")
    wanted = [code for _, code in drawn if code]
    if not wanted:
        parse_schedule(source)
        return
    with pytest.raises(Failed) as failed:
        parse_schedule(source)
    found = failed.value.diagnostics
    assert [d.code for d in found] == wanted, [str(d) for d in found]
    assert all(x.span.source is source for d in found for x in d.labels)
