"""Parses Diesel texts. The paper's grammar does not say which operator binds more tightly: a transpose does,
then `*`, then `+` and `-`, each from the left. A transpose is `A^T` or `A'`. Comments begin with `#` or
`//`."""

import re

from mdh.diagnostics import fail
from mdh.frontend.diesel.syntax import (
    DieselProgram,
    Expression,
    Matrix,
    MatrixAssignment,
    MatrixDeclaration,
    MatrixOperation,
    Pointwise,
    Transpose,
)
from mdh.frontend.token_stream import TextToken, TokenKind, TokenStream, Word, meaningless
from mdh.source import Source, Span

SYNTAX, NAME, LIMIT = "L100", "L101", "L107"
MOST_TOKENS, MOST_DEPTH, MOST_CHAIN = 20_000, 100, 100
FUNCTIONS = ("RELU", "SIGMOID", "TANH")
TYPES = ("INT", "HALF", "FLOAT", "DOUBLE")
_TOKEN = re.compile(
    r"(?P<blank>(?:\s+|#[^\n]*|//[^\n]*)+)|(?P<word>[A-Za-z_][A-Za-z_0-9]*)|(?P<number>[0-9]+)"
    r"|(?P<transpose>\^\s*T\b|')|(?P<mark>[-+*=;,(){}])"
)
_KINDS = {"word": TokenKind.NAME, "number": TokenKind.NUMBER}
_STATEMENT = "a statement is NAME = EXPRESSION;"


def parse(source: Source) -> DieselProgram:
    """Raises Failed L100, L101, L107."""
    return _DieselParser(_tokens(source), SYNTAX).program()


def _tokens(source: Source) -> list[TextToken]:
    text, at, out = source.text, 0, list[TextToken]()
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise meaningless(SYNTAX, source, at)
        if found.lastgroup != "blank":
            kind = _KINDS.get(found.lastgroup or "", TokenKind.MARK)
            out.append(TextToken(kind, found[0], Span(source, at, found.end())))
        if len(out) > MOST_TOKENS:
            raise fail(LIMIT, f"the text has more than {MOST_TOKENS:,} tokens", out[-1].span)
        at = found.end()
    out.append(TextToken(TokenKind.END, "", Span(source, max(0, len(text) - 1), len(text))))
    return out


class _DieselParser(TokenStream):
    """Recursive descent over the tokens."""

    def program(self) -> DieselProgram:
        parameters, inputs = list[Word](), list[MatrixDeclaration]()
        statements, kind, results = list[MatrixAssignment](), None, tuple[Word, ...]()
        while self.token.text in ("Params", "Matrix"):
            if self.token.text == "Params":
                self.next()
                parameters += self.names("a parameter")
            else:
                inputs.append(self.matrix())
            self.expect(";", "behind a declaration")
        while self.token.kind is TokenKind.NAME and self.token.text != "CodeGen":
            statements.append(self.statement())
        if self.token.text == "CodeGen":
            kind, results = self.generate()
        if self.token.kind is not TokenKind.END:
            raise self.wrong("a statement or CodeGen is expected here", _STATEMENT)
        if not statements:
            raise self.wrong("the text computes nothing", _STATEMENT)
        seen = set[str]()
        for w in (*parameters, *(d.name for d in inputs), *(s.target for s in statements)):
            if w.text in seen:
                raise fail(
                    NAME, f"`{w.text}` is defined twice", w.span, help="give each result a name of its own"
                )
            seen.add(w.text)
        return DieselProgram(tuple(parameters), tuple(inputs), tuple(statements), kind, results)

    def names(self, what: str) -> list[Word]:
        out = [self.word(what)]
        while self.takes(","):
            out.append(self.word(what))
        return out

    def matrix(self) -> MatrixDeclaration:
        self.next()
        name = self.word("a matrix")
        self.expect("(", "in front of the extents")
        rows = self.extent()
        self.expect(",", "between the extents: a matrix has rows and columns")
        columns = self.extent()
        self.expect(")", "behind the extents")
        return MatrixDeclaration(name, (rows, columns))

    def extent(self) -> Word:
        if self.token.kind not in (TokenKind.NAME, TokenKind.NUMBER):
            raise self.wrong("a parameter or a number is expected here")
        token = self.next()
        return Word(token.text, token.span)

    def statement(self) -> MatrixAssignment:
        target = self.word("a matrix")
        self.expect("=", f"behind `{target.text}`")
        value = self.sum()
        self.expect(";", "behind a statement")
        return MatrixAssignment(target, value)

    def generate(self) -> tuple[Word, tuple[Word, ...]]:
        self.next()
        self.expect("(", "behind CodeGen")
        kind = self.word("a type")
        if kind.text not in TYPES:
            raise fail("L105", f"`{kind.text}` is no type", kind.span, help=f"types: {', '.join(TYPES)}")
        self.expect(",", "behind the type")
        self.expect("{", "in front of the results")
        results = self.names("a result")
        self.expect("}", "behind the results")
        self.expect(")", "behind the results")
        self.expect(";", "behind CodeGen")
        return kind, tuple(results)

    def sum(self) -> Expression:
        left, count = self.product(), 0
        while (mark := self.takes("+", "-")) is not None:
            left = MatrixOperation(mark.text, left, self.product(), mark.span)
            count = self.counted(count, mark)
        return left

    def product(self) -> Expression:
        left, count = self.factor(), 0
        while (mark := self.takes("*")) is not None:
            left = MatrixOperation("*", left, self.factor(), mark.span)
            count = self.counted(count, mark)
        return left

    def counted(self, count: int, mark: TextToken) -> int:
        if count >= MOST_CHAIN:
            raise fail(
                LIMIT,
                f"more than {MOST_CHAIN} operators stand in a row",
                mark.span,
                help="name a part of them",
            )
        return count + 1

    def factor(self) -> Expression:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise fail(
                LIMIT,
                f"this expression nests deeper than {MOST_DEPTH}",
                self.token.span,
                help="name a part of it",
            )
        out, count = self.primary(), 0
        while self.token.text[:1] in ("^", "'"):
            mark = self.next()
            out = Transpose(out, mark.span)
            count = self.counted(count, mark)
        self.depth -= 1
        return out

    def primary(self) -> Expression:
        token = self.token
        if self.takes("("):
            inner = self.sum()
            self.expect(")", "behind an expression in parentheses")
            return inner
        if token.kind is not TokenKind.NAME:
            raise self.wrong("a matrix, a function or `(` is expected here")
        self.next()
        if self.token.text != "(":
            return Matrix(token.text, token.span)
        if token.text not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise fail(SYNTAX, f"`{token.text}` is no function", token.span, help=f"functions: {known}")
        self.next()
        inner = self.sum()
        self.expect(")", f"behind the operand of {token.text}")
        return Pointwise(token.text, inner, token.span)
