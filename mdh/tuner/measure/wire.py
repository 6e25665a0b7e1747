"""The messages between processes of the bench, as JSON: kernel texts, diagnostics, devices, replies.

What another process sends is validated before it is used. A worker that sends anything else is lost, because
a candidate's kernel runs in its process and may have written anywhere.
"""

import json
from collections.abc import Mapping
from dataclasses import astuple
from sys import float_info
from typing import Annotated, Any

from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.affine import Affine
from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import BY_NAME, I32, TF32
from mdh.ir.expr import Binary, Call, Const, Expr, Var
from mdh.ir.intrinsic import Intrinsic
from mdh.ir.kernel import Launch
from mdh.ir.numerics import ByStage, Numerics
from mdh.ir.turns import Turns
from mdh.machine import print_machine, read_machine
from mdh.schema import Int64, Meta, SchemaError, Text, convert, record_type
from mdh.source import Source
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText, ScalarArg, Scratch
from mdh.tuner.measure.bench import Ground

Json = dict[str, Any]
LONGEST = 1 << 24
"""Characters of the longest message."""
Finite = Annotated[float, Meta(ge=-float_info.max, le=float_info.max)]
Amount = Annotated[float, Meta(ge=0.0, le=float_info.max)]
"""A finite number from 0 on."""


class NonsenseError(ValueError):
    """A message that no part of mdh sends."""


def parsed(text: str | bytes) -> dict[str, Any]:
    """The object in a JSON text. Raises NonsenseError."""
    if len(text) > LONGEST:
        raise NonsenseError("it is too long")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise NonsenseError("it is no JSON") from None
    if not isinstance(value, dict):
        raise NonsenseError("it is no object")
    return value


def fits(value: object, kind: Any) -> bool:
    """Is it of the type?"""
    try:
        convert(value, kind)
    except SchemaError:
        return False
    return True


def listed(kind: Any, least: int = 0, most: int = 1 << 20) -> Any:
    return Annotated[list[kind], Meta(min_length=least, max_length=most)]


FAILED = listed(
    record_type(
        {
            "code": Text, "headline": Text, "notes": listed(Text), "help": Text,
            "witness": listed(tuple[Text, Text]),
        }
    ),
    least=1, most=1000,
)  # fmt: skip
"""Diagnostics, as `failed_json` writes them."""
_RUNS = record_type(
    {"warm": listed(Finite), "cold": listed(Finite), "clock": Text, "stopped": bool}, more=True
)
_REFUSED = record_type({"failed": FAILED}, flags=("poisoned",), more=True)
GROUND = {"title": Text, "target": Text, "machine": Text, "versions": listed(tuple[Text, Text])}
"""The fields of a device, as `ground_json` writes them."""
_GREETING = record_type(GROUND, more=True)
_REPLIES = {
    "build": record_type(
        {
            "text": Text, "image": Text | None, "seconds": Amount,
            "numerics": listed(tuple[Text, int, bool, int, int, int]),
            "resources": listed(tuple[Text, Int64]),
        },
        more=True,
    ),
    "expect": record_type({"seconds": Amount}, more=True),
    "load": record_type({"seconds": Amount}, more=True),
    "time": record_type(
        {"results": listed(dict[str, Any]), "clocks": listed(Finite), "seconds": Amount}, more=True
    ),
}  # fmt: skip
"""By the kind of request."""


def demanded(request: Json, reply: Json) -> Json:
    """The reply, if it is one to the request. Raises NonsenseError."""
    do = request["do"]
    right = fits(reply, _REFUSED if "failed" in reply else _REPLIES[do])
    if right and do == "time" and "failed" not in reply:
        results = reply["results"]
        right = len(results) == len(request["names"]) and all(
            fits(r, _RUNS) or fits(r, _REFUSED) for r in results
        )
    if not right:
        raise NonsenseError(f"no worker answers that to `{do}`")
    return reply


def greeting(hello: Json) -> Json:
    """The first message of a worker: about its device, empty, or why it cannot work. Raises NonsenseError."""
    if hello and not fits(hello, _REFUSED if "failed" in hello else _GREETING):
        raise NonsenseError("no worker begins with that")
    return hello


def text_json(text: KernelText) -> Json:
    return {
        "name": text.name,
        "language": text.language,
        "machine": text.machine,
        "source": text.source,
        "kernels": [_entry_json(e) for e in text.kernels],
        "workspaces": [[w.name, w.dtype.name, w.bytes, w.zero] for w in text.workspaces],
        "params": list(text.params),
        "options": list(text.options),
        "numerics": numerics_json(text.numerics),
        "loops": [_turns_json(x) for x in text.loops],
        "libraries": list(text.libraries),
    }


def read_text(value: Mapping[str, Any]) -> KernelText:
    return KernelText(
        value["name"],
        value["language"],
        value["machine"],
        value["source"],
        tuple(_read_entry(e) for e in value["kernels"]),
        tuple(Scratch(name, BY_NAME[t], size, zero) for name, t, size, zero in value["workspaces"]),
        tuple(value["params"]),
        tuple(value["options"]),
        read_numerics(value["numerics"]),
        tuple(map(_read_turns, value["loops"])),
        tuple(value["libraries"]),
    )


def _turns_json(x: Turns) -> list[Any]:
    where = [[f.terms, f.const] for f in x.where]
    return [[x.name, x.var, x.trips, x.first, x.last, x.start, x.step], where]


def _read_turns(value: list[Any]) -> Turns:
    (name, var, trips, first, last, start, step), where = value
    functions = tuple(map(_read_function, where))
    return Turns(name, var, trips, first, last, start, step, where=functions)


def _read_function(value: list[Any]) -> Affine:
    terms, const = value
    return Affine(tuple((name, c) for name, c in terms), const)


def numerics_json(numerics: ByStage) -> list[Any]:
    return [[stage, *astuple(one)] for stage, one in numerics]


def read_numerics(value: list[Any]) -> ByStage:
    return tuple((stage, Numerics(*one)) for stage, *one in value)


def _entry_json(entry: EntryPoint) -> Json:
    launch = entry.launch
    return {
        "name": entry.name,
        "stage": entry.stage,
        "launch": [launch.grid, launch.block, launch.cluster, launch.min_blocks, launch.early],
        "counts": [None if e is None else _count_json(e) for e in launch.counts],
        "sizes": [list(one) for one in launch.sizes],
        "args": [_arg_json(a) for a in entry.args],
        "shared": [entry.static_shared, entry.dynamic_shared],
    }


def _read_entry(value: Mapping[str, Any]) -> EntryPoint:
    grid, block, cluster, least, early = value["launch"]
    static, dynamic = value["shared"]
    counts = tuple(None if e is None else _read_count(e) for e in value["counts"])
    sizes = tuple((name, low, high) for name, low, high in value["sizes"])
    launch = Launch(_triple(grid), _triple(block), _triple(cluster), least, bool(early), counts, sizes)
    args = tuple(_read_arg(a) for a in value["args"])
    return EntryPoint(value["name"], value["stage"], launch, args, static, dynamic)


def _count_json(e: Expr) -> Any:
    """A number of blocks as a function of open sizes: a number, a size, or an operator and two operands."""
    match e:
        case Const(int() as n):
            return n
        case Var(name):
            return name
        case Binary(op, left, right):
            return [op, _count_json(left), _count_json(right)]
        case Call(Intrinsic.IMIN, (left, right)):
            return ["min", _count_json(left), _count_json(right)]
    raise AssertionError(f"no count: {e}")


def _read_count(value: Any) -> Expr:
    if isinstance(value, int):
        return Const(value, I32)
    if isinstance(value, str):
        return Var(value, I32)
    op, left, right = value
    operands = _read_count(left), _read_count(right)
    return Call(Intrinsic.IMIN, operands, I32) if op == "min" else Binary(op, *operands, I32)


def _triple(value: list[int]) -> tuple[int, int, int]:
    x, y, z = value
    return x, y, z


def _arg_json(arg: Arg) -> list[Any]:
    if isinstance(arg, BufferArg):
        return [arg.name, arg.dtype.name, list(arg.shape), arg.bytes, arg.readonly]
    if isinstance(arg, TensorMap):
        shape, box = list(arg.shape), list(arg.box)
        return [arg.name, arg.buffer, arg.dtype.name, shape, box, arg.swizzle, arg.written, list(arg.steps)]
    return [arg.name, arg.dtype.name]


def _read_arg(value: list[Any]) -> Arg:
    if len(value) == 2:
        return ScalarArg(value[0], BY_NAME[value[1]])
    if len(value) == 8:
        name, buffer, dtype, shape, box, swizzle, written, steps = value
        sizes = (tuple(shape), tuple(box))
        kind = (BY_NAME | {TF32.name: TF32})[dtype]
        return TensorMap(name, buffer, kind, *sizes, swizzle, written, tuple(steps))
    name, dtype, shape, size, readonly = value
    return BufferArg(name, BY_NAME[dtype], tuple(shape), size, readonly)


def failed_json(failed: Failed) -> list[Json]:
    """Diagnostics without places, because these point into texts that the other side has itself."""
    return [
        {
            "code": d.code,
            "headline": d.headline,
            "notes": list(d.notes),
            "help": d.help,
            "witness": [[name, str(value)] for name, value in d.witness],
        }
        for d in failed.diagnostics
    ]


def read_failed(value: list[Json]) -> Failed:
    return Failed(
        *(
            Diagnostic(
                d["code"],
                d["headline"],
                notes=tuple(d["notes"]),
                help=d["help"],
                witness=tuple((name, text) for name, text in d["witness"]),
            )
            for d in value
        )
    )


def ground_json(ground: Ground) -> Json:
    return {
        "title": ground.title,
        "target": ground.target,
        "machine": print_machine(ground.machine),
        "versions": [list(v) for v in ground.versions],
    }


def read_ground(value: Mapping[str, Any]) -> Ground:
    """The device of a worker. Raises Failed if its machine is malformed."""
    versions = tuple((name, text) for name, text in value["versions"])
    machine = read_machine(Source("<worker>", value["machine"]))
    return Ground(machine, value["target"], value["title"], versions)
