"""How large expressions may grow: later parts walk them recursively and write them into kernels."""

from mdh.diagnostics import Failed, fail
from mdh.ir.expr import Expr, children
from mdh.source import Source, Span

MOST_NODES = 4096
MOST_DEPTH = 200
HELP = "store a part of it in an array of its own"


def check_size(e: Expr, span: Span) -> None:
    """Fails where `e`, written out, is too large; looks at no more of it than that takes."""
    seen, level = 0, [e]
    for _ in range(MOST_DEPTH):
        seen += len(level)
        if seen > MOST_NODES:
            what = f"this expression has more than {MOST_NODES:,} parts once its locals are written out"
            raise fail("C121", what, span, help=HELP)
        level = [c for x in level for c in children(x)]
        if not level:
            return
    raise fail("C121", f"this expression nests deeper than {MOST_DEPTH} operators", span, help=HELP)


def too_deep(source: Source) -> Failed:
    """The text nests deeper than can be read; points at the deepest bracket, else at the longest line."""
    depth, deepest, at = 0, 0, 0
    for k, c in enumerate(source.text):
        depth += (c in "([{") - (c in ")]}")
        if depth > deepest:
            deepest, at = depth, k
    if deepest < 20:
        start, line = max(enumerate(source.text.splitlines(keepends=True)), key=lambda p: len(p[1]))
        at = source.offset(start + 1, len(line) - len(line.lstrip()) + 1)
    return fail("C121", "this nests too deep", Span(source, at, at + 1), label="here", help=HELP)
