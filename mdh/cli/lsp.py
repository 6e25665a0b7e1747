"""`mdh lsp`: the language server, for editors."""

import sys
from importlib import import_module
from typing import Annotated

import typer

from mdh.cli.console import log
from mdh.diagnostics import fail

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def lsp(
    stdio: Annotated[bool, typer.Option("--stdio", help="Says nothing new: some editors append it.")] = False,
) -> None:
    """Serve an editor over standard input and output: messages, hover, completion, formatting.

    Editors start it themselves; see docs/editors.md. Needs the extra `editor`:
    pip install '.[editor]' in mdh's folder.
    """
    demand_packages()
    if sys.stdin is not None and sys.stdin.isatty():
        log("waits for the messages of an editor, which starts this command itself; Ctrl-C ends it")
    import_module("mdh.editor.server").serve()


def demand_packages() -> None:
    """Raises Failed F213 without the library that speaks the protocol."""
    try:
        import_module("pygls")
    except ImportError:
        hint = "pip install '.[editor]' in mdh's folder"
        raise fail("F213", "the language server needs pygls, which is not installed", help=hint) from None
