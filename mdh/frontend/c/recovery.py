"""Goes on behind a statement that is no C, so that errors of syntax in several statements are reported
together.

The parser stops at the first error. The statement around it is blanked, and the text is parsed again. What is
no statement of a function, such as its parameters, cannot be blanked: what would follow is noise.
"""

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"?' r"|'(?:\\.|[^'\\\n])*'?" r"|^[ \t]*\#[^\n]*" r"|\bfor\b|[;{}()\[\]=,]",
    re.MULTILINE,
)  # fmt: skip
_WORD = re.compile(r"[A-Za-z_]\w*")
_MARK = re.compile(r'^[ \t]*#[ \t]*line[ \t]+(\d+)(?:[ \t]+"([^"\n]*)")?')
_ELSE = re.compile(r"\s*else\b")
_BEGINS = re.compile(r"(?:for|if|while|do|switch|return|goto|break|continue)\b")
"""Words that statements begin with and expressions never hold."""
_FOR = "for ("
"""The parenthesis of a `for`, which two semicolons may stand in."""
_TRUE = "if(1)"
_LIST = "= {"
"""The brace of a list of initial values."""


@dataclass
class _Open:
    """A bracket that is open: its kind, and the semicolons that stand in it."""

    kind: str
    semicolons: int = 0


@dataclass
class _Nesting:
    """The brackets that are open at a place, outermost first; `last` is the token before it."""

    stack: list[_Open] = field(default_factory=list)
    last: str = ";"

    def takes(self, token: str) -> bool:
        """Notes the next token. Returns whether a statement begins behind it, or would end before it."""
        before, self.last = self.last, token
        top = self.stack[-1] if self.stack else None
        match token:
            case "(" | "[":
                self.stack.append(_Open(_FOR if before == "for" and token == "(" else token))
            case ")" | "]":
                if top is not None and top.kind in ("(", "[", _FOR):
                    self.stack.pop()
            case "{" if before in ("=", ",") or (top is not None and top.kind == _LIST):
                self.stack.append(_Open(_LIST))
            case "{":
                self._close_parentheses()
                self.stack.append(_Open("{"))
                return True
            case "}" if top is not None and top.kind == _LIST:
                self.stack.pop()
            case "}":
                self._close_parentheses()
                if self.stack:
                    self.stack.pop()
                return True
            case ";":
                if top is not None and top.kind == _FOR and top.semicolons < 2:
                    top.semicolons += 1
                    return False
                self._close_parentheses()
                return True
        return False

    @property
    def in_function(self) -> bool:
        return any(one.kind == "{" for one in self.stack)

    def _close_parentheses(self) -> None:
        """Those that were left open: no statement ends in them."""
        while self.stack and self.stack[-1].kind != "{":
            self.stack.pop()


def offset_of(text: str, file: str, line: int, column: int, after: int) -> int | None:
    """Where the place of a file stands in a preprocessed text with #line marks, not before `after`."""
    at, here, number = 0, "", 1
    for row in text.split("\n"):
        mark = _MARK.match(row)
        if mark is not None:
            number, here = int(mark[1]), mark[2] if mark[2] is not None else here
        else:
            if number == line and file in (here, "") and at + column - 1 >= after and column - 1 <= len(row):
                return at + column - 1
            number += 1
        at += len(row) + 1
    return None


def without_statement(text: str, error: int) -> tuple[str, int] | None:
    """The text with the statement around an error blanked, and where that ends. The body of a loop or branch
    with a wrong header stays, as a block. None if the error is in no statement."""
    nesting, start = _Nesting(), 0
    tokens = [m for m in _TOKEN.finditer(text) if not m[0].lstrip().startswith("#")]
    behind = len(tokens)
    for n, m in enumerate(tokens):
        if m.start() >= error:
            behind = n
            break
        if nesting.takes(m[0]):
            start = m.end()
    if not nesting.in_function:
        return None
    start = _behind_marks(text, start, error)
    in_header = any(one.kind == _FOR for one in nesting.stack)
    if start < error and not in_header and _BEGINS.match(text, error):
        # a semicolon is missing in front of this word, with which the next statement begins
        end = error
    else:
        end = _end(text, tokens[behind:], nesting)
    lost = text[start:end]
    if not lost.strip() or "typedef" in lost:
        return None
    # marks of lines stay; an `else` in front of it still needs a statement
    rows = (row if _MARK.match(row) else " " * len(row) for row in lost.split("\n"))
    blank = "\n".join(rows)
    # an `if` before a block stays one, because there may be an `else` behind the block
    kept = _TRUE if lost.startswith("if") and text[end : end + 1] == "{" and len(lost) >= len(_TRUE) else ";"
    return f"{text[:start]}{kept}{blank[len(kept) :]}{text[end:]}", end


def _behind_marks(text: str, start: int, error: int) -> int:
    """The first character of a statement: behind blanks and #line marks."""
    for m in re.compile(r"[^\s#]|#[^\n]*").finditer(text, start, error + 1):
        if not m[0].startswith("#"):
            return m.start()
    return min(start, error)


def _end(text: str, tokens: list[re.Match[str]], nesting: _Nesting) -> int:
    """Where the statement ends that the first of these tokens stand in."""
    for one in reversed(nesting.stack):
        if one.kind == "{":
            break
        if (skipped := _behind_bracket(tokens, braces=one.kind == _LIST)) > 0:
            tokens, nesting.last = tokens[skipped:], ")"
    n = -1
    while (n := n + 1) < len(tokens):
        m = tokens[n]
        if m[0] in ("(", "["):
            n += _behind_bracket(tokens[n + 1 :], braces=False)
        if m[0] == "{" and nesting.last in ("=", ","):
            inside = _behind_bracket(tokens[n + 1 :], braces=True)
            return _end(text, tokens[n + 1 + inside :], _Nesting()) if inside else m.start()
        if m[0] in ("{", "}"):
            return m.start()
        if m[0] == ";":
            return _behind_else(text, m.end())
        nesting.last = m[0]
    return len(text)


def _behind_else(text: str, end: int) -> int:
    """The end, or that of an `else` behind it, which belongs to the statement that ends here."""
    found = _ELSE.match(text, end)
    return end if found is None else found.end()


def _behind_bracket(tokens: list[re.Match[str]], *, braces: bool) -> int:
    """The number of tokens until the bracket closes that the first of them stand in; 0 if it does not.
    braces: whether it is one of a list of values."""
    opening, closing = ("{", "}") if braces else (("(", "["), (")", "]"))
    depth = 0
    for n, m in enumerate(tokens):
        if m[0] in opening:
            depth += 1
        elif m[0] in closing:
            if depth == 0:
                return n + 1
            depth -= 1
        elif m[0] in ("{", "}") or (braces and m[0] == ";"):
            return 0
    return 0


def names_between(before: str, after: str) -> frozenset[str]:
    """The names in what was blanked."""
    lost = (a if a != b else " " for a, b in zip(before, after, strict=True))
    return frozenset(_WORD.findall("".join(lost)))
