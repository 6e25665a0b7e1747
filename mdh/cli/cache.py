"""`mdh cache`: shows which machine code is kept between runs, and where, or removes it."""

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from mdh.cli.console import ok, show, show_json
from mdh.cli.options import JsonOpt
from mdh.device.cache import LIMIT, Usage, open_cache
from mdh.report.text import bytes_text

app = typer.Typer(rich_markup_mode=None, add_completion=False)


class CacheAction(StrEnum):
    SHOW = "show"
    CLEAR = "clear"


ActionArg = Annotated[CacheAction, typer.Argument(help="show: folder and size; clear: remove every entry.")]


@app.command()
def cache(action: ActionArg = CacheAction.SHOW, json: JsonOpt = False) -> None:
    """Show or clear the cache of compiled candidates, $XDG_CACHE_HOME/mdh (default ~/.cache/mdh).

    Entries are found by the hash of their text, options, compiler and architecture. A damaged entry is
    compiled anew. Clearing only costs time.
    """
    kept = open_cache()
    usage = kept.clear() if action is CacheAction.CLEAR else kept.usage()
    if json:
        show_json(ok("cache", action=action.value, limit=LIMIT, **asdict(usage)))
    else:
        show(_text(action, usage))


def _text(action: CacheAction, usage: Usage) -> str:
    entries = f"{usage.entries:,} {'entry' if usage.entries == 1 else 'entries'}, {bytes_text(usage.bytes)}"
    if action is CacheAction.CLEAR:
        return f"removed {entries} from {usage.folder}\n"
    return f"{usage.folder}: {entries} of at most {bytes_text(LIMIT)}\n"
