"""`--format NAME`: diagnostics as text, JSON, SARIF, or annotations of GitHub."""

from collections.abc import Sequence

from mdh.cli.command_line import FORMAT, CommandLine, Format, formats
from mdh.cli.console import MOST_IN_JSON, MOST_SHOWN, capped, log, report, show, show_json
from mdh.diagnostics import Diagnostic
from mdh.report.github import github_text
from mdh.report.sarif import Fixes, sarif_log
from mdh.wording import meant

OF_VERBS = {
    "check": tuple(Format),
    "compile": tuple(Format),
    "run": (Format.TEXT, Format.JSON, Format.GITHUB),
}
"""A log of SARIF is all that stdout holds, and the result of `run` stands there."""


def without_format(line: CommandLine, verb: str, words: Sequence[str]) -> list[str]:
    """The words with `--json` in the place of `--format json`, and without other formats. Raises Failed F107
    for a format that the verb does not have, and for two formats."""
    if verb not in OF_VERBS:
        return list(words)
    known = OF_VERBS[verb]
    given = formats(words)
    for _, name in given:
        if not name or name.startswith("-"):
            raise line.fail("F107", f"{FORMAT} needs a name", FORMAT, help=f"give {_listed(known)}")
        if name not in known:
            hint = meant(name, known, always=f"`mdh {verb}` has {_listed(known)}")
            raise line.fail("F107", f"`{name}` is no format of `mdh {verb}`", name, help=hint)
    named = {name for _, name in given} | ({str(Format.JSON)} if "--json" in words else set())
    if len(named) > 1:
        both = " and ".join(f"`{name}`" for name in sorted(named))
        raise line.fail("F107", f"{both} are both asked for", FORMAT, help="keep one", last=True)
    values = {at for at, _ in given}
    out = [w for n, w in enumerate(words) if n not in values and w != FORMAT]
    return [*out, "--json"] if named == {Format.JSON} and "--json" not in words else out


def _listed(known: Sequence[Format]) -> str:
    return ", ".join(known[:-1]) + f" or {known[-1]}"


def show_github(diagnostics: Sequence[Diagnostic]) -> None:
    shown, left = capped(diagnostics, MOST_SHOWN)
    show(github_text(shown))
    if left:
        log(f"{left:,} more are not shown")


def show_sarif(diagnostics: Sequence[Diagnostic], fixes: Fixes = (), *, exit_code: int = 0) -> None:
    shown, left = capped(diagnostics, MOST_IN_JSON)
    show_json(sarif_log(shown, fixes, exit_code=exit_code))
    if left:
        log(f"{left:,} more are not listed")


def report_as(line: CommandLine, diagnostics: Sequence[Diagnostic]) -> None:
    """Prints warnings of a call that succeeds; in JSON and SARIF they are a part of the result."""
    if line.format is Format.TEXT:
        report(diagnostics)
    elif line.format is Format.GITHUB:
        show_github(diagnostics)
