"""`mdh`: finds the command, runs it, and turns every outcome into an exit code. Users never see a traceback.

Only the module of the chosen command is imported, so that `mdh --help` loads neither the parsers nor isl.
"""

import errno
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from mdh.cli.command_line import SERVE, CommandLine, Format, formats, with_port, without_quiet
from mdh.cli.console import (
    MOST_IN_JSON,
    capped,
    discard_output,
    lost_output,
    remarks,
    report,
    show,
    show_json,
)
from mdh.cli.crash import save_crash
from mdh.cli.exit_codes import BROKEN_PIPE, INTERRUPTED, OK, exit_code
from mdh.cli.options import CONSTANTS
from mdh.cli.process_title import hide_passwords
from mdh.diagnostics import Failed, render_json
from mdh.ending import leave
from mdh.release import release
from mdh.textfile import EINSUM
from mdh.wording import meant

VERBS = {
    "compile": "Write the kernel source, a host driver, a header and a manifest.",
    "check": "Prove a schedule legal for a program and a machine; needs no device.",
    "run": "Build and run on a device, verify the result, time it.",
    "tune": "Search the holes of a schedule on a device for the fastest values.",
    "compare": "Compare schedules on devices: times, what limits them, how portable they are.",
    "reproduce": "List tables and figures of papers, or run one again beside libraries.",
    "explain": "Show loops, layers, footprints and bytes; or the page of a diagnostic code.",
    "examples": "List the programs that come with mdh, or show one with its schedules.",
    "new": "Make a folder of your own from a program that comes with mdh.",
    "fmt": "Format schedules in the canonical form.",
    "devices": "List the devices and machine files; export one for the device at hand.",
    "db": "List, show, merge and export the records of the tuner.",
    "cache": "Show or clear the compiled candidates that are kept between runs.",
    "lsp": "Serve an editor: messages, hover, completion (the extra `editor`).",
    "docs": "Serve the documentation to browsers on this machine.",
    "doctor": "Say which runtimes work, what is missing and how to install it.",
}
"""Command -> its line in the help. The module `mdh.cli.<command>` holds `app` and is imported when chosen."""
COMPLETION = "_MDH_COMPLETE"
"""The variable by which a shell asks for completions; others hold the words, such as COMP_WORDS."""


class Verbs(TyperGroup):
    """A group of commands whose modules are imported one at a time, on demand."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            return None
        return get_command(import_module(f"mdh.cli.{cmd_name}").app)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        word = args[0]
        if word not in VERBS and not word.startswith("-"):
            hint = meant(word, VERBS, otherwise=f"the verbs are {', '.join(VERBS)}")
            raise ctx.obj.fail("F106", f"no verb `{word}`", word, help=hint)
        return super().resolve_command(ctx, args)


app = typer.Typer(cls=Verbs, name="mdh", rich_markup_mode=None, pretty_exceptions_enable=False)


def _print_version(asked: bool) -> None:
    if asked:
        show(f"mdh {release()}")
        raise typer.Exit(OK)


@app.callback(context_settings={"help_option_names": ["-h", "--help"]})
def root(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
    _quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="At any place: print no remarks and no progress.")
    ] = False,
) -> None:
    """A compiler for performance engineers: C loop nests and MDH schedules to CUDA, OpenCL and C.

    Results go to stdout, remarks to stderr. Exit codes: 0 ok, 1 rejected input, 2 usage, 3 nothing valid,
    4 wrong result, 70 internal error, 130/143 interrupted.
    """


def run(words: Sequence[str]) -> int:
    """Runs `mdh WORDS…` in this process and returns the exit code. Writes to sys.stdout and sys.stderr."""
    line = CommandLine.of(words)
    with suppress(MemoryError), remarks(not line.quiet):
        return _run(line, words)
    # the memory that was held is free now, with the frames that held it
    return _report(line, import_module("mdh.memory_left").no_room("what this command needs"))


def _run(line: CommandLine, words: Sequence[str]) -> int:
    """Runs the command and returns the exit code. Raises MemoryError."""
    try:
        outcome = get_command(app).main(
            _with_arrays(line, _with_format(line, without_quiet(_with_program(line, words)))) or ["--help"],
            prog_name="mdh",
            standalone_mode=False,
            obj=line,
        )
        return outcome if isinstance(outcome, int) else OK
    except Failed as failed:
        return _report(line, failed)
    except typer.TyperException as error:
        return _report(line, _usage(line, error))
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except SystemExit as end:
        # Typer ends so where its help text meets a closed pipe; signals end with codes of their own
        return BROKEN_PIPE if end.code == 1 else end.code if isinstance(end.code, int) else OK
    except OSError as error:
        # Typer writes the help text itself; files are opened, and their errors handled, elsewhere
        unwritten = error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EDQUOT)
        return _report(line, lost_output(error) if unwritten else save_crash(line, error))
    except MemoryError:
        raise
    except (KeyError, ValueError) as error:
        # when a shell asks for completions, no command is reached
        return _report(line, _no_completion(line) if COMPLETION in os.environ else save_crash(line, error))
    except Exception as error:  # the border to the user: any exception here is a bug of mdh
        return _report(line, save_crash(line, error))


def _with_program(line: CommandLine, words: Sequence[str]) -> list[str]:
    """The words with the text of `--einsum` in the place of a program's file."""
    out, left = list[str](), list(words)
    while left:
        word, equals, text = left.pop(0).partition("=")
        if word != "--einsum":
            out.append(f"{word}{equals}{text}")
            continue
        if not equals and (not left or left[0].startswith("--")):
            raise line.fail("F107", "--einsum needs a text", "--einsum", help="write --einsum 'ij,jk->ik'")
        out.append((text if equals else left.pop(0)) + EINSUM)
    return out


def _with_format(line: CommandLine, words: list[str]) -> list[str]:
    """The words as verbs read them, which know no `--format`."""
    if not formats(words):
        return words
    verb = next((w for w in words if not w.startswith("-")), "")
    out: list[str] = import_module("mdh.cli.formats").without_format(line, verb, words)
    return out


def _with_arrays(line: CommandLine, words: list[str]) -> list[str]:
    """The words with a define in the place of every `--const NAME=FILE.npy` and `--const-pattern`, and with a
    port behind `--serve`."""
    if SERVE in words:
        words = with_port(words)
    if not any(w.partition("=")[0] in CONSTANTS for w in words):
        return words
    out: list[str] = import_module("mdh.cli.constants").with_arrays(line, words)
    return out


def _report(line: CommandLine, failed: Failed) -> int:
    """Prints diagnostics as text on stderr or, with --json, as data on stdout. Returns the exit code."""
    code = exit_code(failed.diagnostics)
    told = [line.told(d) for d in failed.diagnostics]
    # if stdout cannot be written (F118), they are printed as text
    if line.json and all(d.code != "F118" for d in failed.diagnostics):
        shown, left = capped(told, MOST_IN_JSON)
        found = {"diagnostics": [render_json(d) for d in shown], **({"not_shown": left} if left else {})}
        with suppress(Failed):
            show_json({"schema": "mdh.result/1", "ok": False, "exit": code, **found})
            return code
    elif line.format is not Format.TEXT and all(d.code != "F118" for d in failed.diagnostics):
        with suppress(Failed):
            door = import_module("mdh.cli.formats")
            if line.format is Format.SARIF:
                door.show_sarif(told, exit_code=code)
            else:
                door.show_github(told)
            return code
    report(told)
    return code


def _usage(line: CommandLine, error: typer.TyperException) -> Failed:
    """A wrong option or argument, as a diagnostic at the word."""
    verb = next((w for w in line.words if w in VERBS), "")
    headline = error.format_message().rstrip(".").replace("\n", " ")
    headline, _, options = headline.partition(" (Possible options: ")
    headline = headline[:1].lower() + headline[1:]
    # whole names: `-s` stands inside `--seed`
    named = set(re.findall(r"(?<![\w-])--?\w[\w-]*", headline))
    asked = word = next((w for w in line.words if w.split("=")[0] in named), "")
    if headline.startswith("invalid value for '-") and ("=" in word or word in line.words[:-1]):
        word, equals, value = word.partition("=")
        value = value if equals else line.words[line.words.index(word) + 1]
        option = getattr(error, "param", None)
        least = getattr(option, "min", None)
        kind = getattr(getattr(option, "type_descriptor", None), "annotation", int)
        whole = "number" if kind is float else "whole number"
        number = "a whole number" if "integer" in headline else "another one"
        most = getattr(option, "max", None)
        until = "on" if most is None else f"to {most}"
        wanted = number if least is None else f"a {whole} from {least} {until}"
        return line.fail("F107", f"`{value}` is no value of {word}", value, help=f"give {wanted}")
    if not word:
        word = next((w for w in reversed(line.words) if f"`{w}`" in headline or f"({w})" in headline), "")
    if "'FILE.c" in headline:
        others = ", a schedule or a code" if "CODE" in headline else ""
        hint = (
            f"give FILE.c, FILE.tc, FILE.diesel or --einsum TEXT{others}; see `{_place(error, verb)} --help`"
        )
        return line.fail("F107", "missing argument: a program", word, help=hint)
    # typer suggests names that have only a few letters in common
    like = options.rstrip(")").split(", ") if asked else []
    hint = meant(asked, like, cutoff=0.75, always=f"see `{_place(error, verb)} --help`")
    return line.fail("F107", headline, word, help=hint)


def _no_completion(line: CommandLine) -> Failed:
    headline = f"completions are asked for by {COMPLETION}, and the words to complete are not given"
    return line.fail(
        "F107", headline, "", help=f"`mdh --install-completion` sets it up; else unset {COMPLETION}"
    )


def _place(error: typer.TyperException, verb: str) -> str:
    """The command, and its subcommand, whose options these are."""
    path = getattr(getattr(error, "ctx", None), "command_path", "")
    return path if path.startswith(f"mdh {verb}") else f"mdh {verb}".rstrip()


def main() -> None:
    """Runs the command line of this process and ends the process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # Typer writes help texts itself
            stream.reconfigure(errors="backslashreplace")
    hide_passwords(sys.argv[1:])
    try:
        code = run(sys.argv[1:])
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        code = BROKEN_PIPE
    leave(code)
