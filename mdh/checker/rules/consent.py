"""K176: what changes numbers is allowed."""

from collections.abc import Iterator

from mdh.checker.atoms import NEEDS
from mdh.checker.options import word
from mdh.checker.subject import Draft, at
from mdh.diagnostics import Diagnostic

CODE = "K176"


def check_consent(draft: Draft) -> Iterator[Diagnostic]:
    """K176. The type of each `@as` is one that the user allows for the program."""
    for attr in (a for step in draft.splitting for a in step.attrs if a.name == "as"):
        if word(attr) not in draft.program.allowed:
            what = f"rounds the factors of `{draft.stage.name}` to 11 significant bits"
            headline = f"`@as({word(attr)})` {what}, which changes its results"
            labels = at(attr.span, "nothing allows this")
            said = f'it {NEEDS}, in Python `allow=("tf32",)`; without it the factors stay as they are'
            yield Diagnostic(CODE, headline, labels, help=said)
