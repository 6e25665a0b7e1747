"""Damage that fits every kind of file: bits, bytes, spans and lines."""

from collections.abc import Sequence
from random import Random

_BYTES = (
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\r",
    b"\n",
    b"\t",
    b'"',
    b"'",
    b"\\",
    b"\x7f",
    b"\x1b[2J",
)


def damaged(data: bytes, chance: Random, noise: Sequence[bytes] = ()) -> bytes:
    """`data` after one to four changes. noise: pieces that mean something in files of this kind."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = _change(data, chance, (*noise, *_BYTES))
    return data


def _change(data: bytes, chance: Random, noise: Sequence[bytes]) -> bytes:
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.choice((1, 1, 2, 8, 64)))
    match chance.randrange(9):
        case 0:
            return data[:start] + data[end:]
        case 1:
            return data[:start] + chance.choice(noise) + data[start:]
        case 2:
            return data[:start] + chance.choice(noise) + data[end:]
        case 3:
            out = bytearray(data)
            if out:
                out[start % len(out)] ^= 1 << chance.randrange(8)
            return bytes(out)
        case 4:
            return data[:start]
        case 5:
            return data[:start] + data[start:end] * chance.choice((2, 50, 2000)) + data[end:]
        case 6:
            return data[:start] + chance.choice(noise) * chance.choice((2, 50, 2000)) + data[start:]
        case 7:
            there = chance.randrange(len(data) + 1)
            return data[:there] + data[start:end] + data[there:]
        case _:
            return _lines(data, chance)


def _lines(data: bytes, chance: Random) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    here, there = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(3):
        case 0:
            lines[here] *= chance.choice((0, 2, 300))
        case 1:
            lines[here], lines[there] = lines[there], lines[here]
        case _:
            lines.insert(here, lines[there])
    return b"".join(lines)
