"""The values that processes of the bench exchange, as JSON: kernel texts, diagnostics, efforts."""

from collections.abc import Mapping
from typing import Any

from mdh.diagnostics import Diagnostic, Failed
from mdh.ir.copy_engine import TensorMap
from mdh.ir.dtype import BY_NAME
from mdh.ir.kernel import Launch
from mdh.target.text import Arg, BufferArg, EntryPoint, KernelText, ScalarArg, Scratch

Json = dict[str, Any]


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
    )


def _entry_json(entry: EntryPoint) -> Json:
    launch = entry.launch
    return {
        "name": entry.name,
        "stage": entry.stage,
        "launch": [launch.grid, launch.block, launch.cluster, launch.min_blocks, launch.early],
        "args": [_arg_json(a) for a in entry.args],
        "shared": [entry.static_shared, entry.dynamic_shared],
    }


def _read_entry(value: Mapping[str, Any]) -> EntryPoint:
    grid, block, cluster, least, early = value["launch"]
    static, dynamic = value["shared"]
    launch = Launch(_triple(grid), _triple(block), _triple(cluster), least, bool(early))
    args = tuple(_read_arg(a) for a in value["args"])
    return EntryPoint(value["name"], value["stage"], launch, args, static, dynamic)


def _triple(value: list[int]) -> tuple[int, int, int]:
    x, y, z = value
    return x, y, z


def _arg_json(arg: Arg) -> list[Any]:
    if isinstance(arg, BufferArg):
        return [arg.name, arg.dtype.name, list(arg.shape), arg.bytes, arg.readonly]
    if isinstance(arg, TensorMap):
        return [arg.name, arg.buffer, arg.dtype.name, list(arg.shape), list(arg.box), arg.swizzle]
    return [arg.name, arg.dtype.name]


def _read_arg(value: list[Any]) -> Arg:
    if len(value) == 2:
        return ScalarArg(value[0], BY_NAME[value[1]])
    if len(value) == 6:
        name, buffer, dtype, shape, box, swizzle = value
        return TensorMap(name, buffer, BY_NAME[dtype], tuple(shape), tuple(box), swizzle)
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
