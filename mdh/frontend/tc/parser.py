"""Parses the text of Tensor Comprehensions (the paper's figure 14)."""

from mdh.diagnostics import Diagnostic, Failed, fail
from mdh.frontend.tc.syntax import (
    Application,
    BinaryOperation,
    CallStatement,
    Definition,
    Expression,
    ExtentOf,
    Literal,
    NameUse,
    Negation,
    Range,
    Statement,
    TcFunction,
    TcParameter,
    Ternary,
)
from mdh.frontend.tc.tokens import LIMIT, SYNTAX, tokens_of
from mdh.frontend.token_stream import TextToken, TokenKind, TokenStream, Word
from mdh.ir.syntax import BINARY
from mdh.source import Source, Span

MOST_DEPTH = 100
"""The most operators and parentheses that an expression nests."""
MOST_CHAIN = 100
"""The most operators of one level in a row."""
_LEVEL_OF = {op: level for level, ops in enumerate(BINARY) for op in ops}
_REDUCTIONS = {"+=": "+", "*=": "*", "min=": "min", "max=": "max"}
_STATEMENT = (
    "a statement is TENSOR(INDICES) = VALUE, with +=, *=, min= or max= for reductions, and ! to start anew"
)
_INDICES = "the left side takes plain indices, the right side others too: O(i) = X(I(i)); a number is s() = …"
_RESULTS = "results are names alone: -> (C); their types and extents follow from the statements"
_ARGUMENTS = "calls pass tensors by their names: (C) = f(A, B)"


def parse(source: Source) -> tuple[TcFunction, ...]:
    """The functions of a text. Raises Failed T100, T102, T103 with an error for each function that has
    one."""
    parser = _Parser(tokens_of(source), SYNTAX)
    functions, found = list[TcFunction](), list[Diagnostic]()
    while parser.token.kind is not TokenKind.END:
        try:
            functions.append(parser.function())
        except Failed as failed:
            found += failed.diagnostics
            parser.skip()
    if found:
        raise Failed(*found)
    if not functions:
        raise fail(
            SYNTAX,
            "the text defines no function",
            parser.token.span,
            help="write def mm(float(M,K) A, float(K,N) B) -> (C) { C(m,n) +=! A(m,k) * B(k,n) }",
        )
    seen: dict[str, TcFunction] = {}
    for f in functions:
        if f.name.text in seen:
            raise fail(
                "T102", f"two functions are called `{f.name.text}`", f.name.span, help="rename one of them"
            )
        seen[f.name.text] = f
    return tuple(functions)


class _Parser(TokenStream):
    """Recursive descent over the tokens."""

    def ahead(self, count: int) -> str:
        return self.tokens[min(self.at + count, len(self.tokens) - 1)].text

    def skip(self) -> None:
        """Goes on at the next function."""
        self.depth = 0
        while self.token.kind is not TokenKind.END:
            self.next()
            if self.token.text == "def" and self.token.kind is TokenKind.NAME:
                return

    def words(self, what: str, many: str, help: str = "") -> tuple[Word, ...]:
        """Names between parentheses, separated by commas; there may be none. what: one of them, many: all;
        help: where something else stands."""
        self.expect("(", f"in front of the {many}", help)
        out = list[Word]()
        while self.token.text != ")":
            out.append(self.word(what, help))
            if not self.takes(","):
                break
        self.expect(")", f"behind the {many}", help)
        return tuple(out)

    def function(self) -> TcFunction:
        if self.token.text != "def":
            raise self.wrong(
                "a function begins with `def`", "write def NAME(PARAMETERS) -> (RESULTS) { STATEMENTS }"
            )
        self.next()
        name = self.word("the function's name")
        parameters = self.parameters()
        if not self.takes("->", "→"):
            raise self.wrong("`->` is expected behind the parameters")
        results = self.words("a result", "results", _RESULTS)
        if not results:
            raise self.wrong(f"`{name.text}` has no result", "name its results: -> (C)")
        self.expect("{", "in front of the statements")
        body = list[Statement]()
        while self.token.text != "}":
            body.append(self.statement())
        self.next()
        return TcFunction(name, parameters, results, tuple(body))

    def parameters(self) -> tuple[TcParameter, ...]:
        self.expect("(", "in front of the parameters")
        out = list[TcParameter]()
        while self.token.text != ")":
            kind = self.word("a parameter's type")
            const = kind.text == "const"
            if const:
                kind = self.word("a parameter's type")
            extents = self.extents() if self.token.text == "(" else ()
            out.append(TcParameter(kind, extents, self.word("the parameter's name"), const))
            if not self.takes(","):
                break
        self.expect(")", "behind the parameters")
        return tuple(out)

    def extents(self) -> tuple[Word | Literal, ...]:
        self.next()
        out = list[Word | Literal]()
        while self.token.text != ")":
            if self.token.kind is TokenKind.NUMBER:
                token = self.next()
                out.append(Literal(token.text, token.span))
            else:
                out.append(self.word("an extent"))
            if not self.takes(","):
                break
        self.expect(")", "behind the extents")
        return tuple(out)

    def statement(self) -> Statement:
        if self.token.text == "(" or (self.ahead(1) in ("=", ",") and self.ahead(1) != "("):
            return self.call_statement()
        if self.token.kind is not TokenKind.NAME:
            raise self.wrong("a statement or `}` is expected here", _STATEMENT)
        target = self.word("a tensor")
        if self.token.text.removesuffix("!") in _REDUCTIONS:
            hint = f"a tensor of one element has empty parentheses: {target.text}() {self.token.text} …"
            raise self.wrong(f"`{target.text}` has no parentheses", hint)
        indices = self.words("an index", "indices", _INDICES)
        span = _over(target.span, self.tokens[self.at - 1].span)
        op = self.next()
        plain = op.text.removesuffix("!") if len(op.text) > 1 else op.text
        if op.kind is not TokenKind.MARK or (plain != "=" and plain not in _REDUCTIONS):
            self.at -= op.kind is not TokenKind.END
            raise self.wrong(f"`=` or a reduction is expected behind `{target.text}(…)`", _STATEMENT)
        if op.text == "=" and self.token.text == "!" and self.token.span.start == op.span.end:
            hint = "write = to store a value, +=! to reduce, or a blank before ! for the logical not"
            raise self.wrong("`=!` reduces by nothing", hint)
        value = self.expression()
        ranges = self.ranges() if self.token.text == "where" and self.token.kind is TokenKind.NAME else ()
        return Definition(
            target, indices, _REDUCTIONS.get(plain, ""), op.text.endswith("!"), value, ranges, span
        )

    def call_statement(self) -> CallStatement:
        """`A = f(B)`, `A, B = f(C)` and `(A, B) = f(C)`: the paper's grammar has the second form, its figure
        15 the third."""
        start = self.token.span
        if self.token.text == "(":
            targets = self.words("a result", "results")
        else:
            first = [self.word("a result")]
            while self.takes(","):
                first.append(self.word("a result"))
            targets = tuple(first)
        self.expect("=", "behind the results of a call")
        function = self.word("a function")
        arguments = self.words("an argument", "arguments", _ARGUMENTS)
        return CallStatement(targets, function, arguments, _over(start, self.tokens[self.at - 1].span))

    def ranges(self) -> tuple[Range, ...]:
        self.next()
        out = list[Range]()
        while True:
            index = self.word("an index")
            if self.token.text != "in":
                raise self.wrong(f"`in` is expected behind `{index.text}`", "write where i in 0:4")
            self.next()
            first = self.binary()
            self.expect(":", "between the first value and the end of a range")
            out.append(Range(index, first, self.binary()))
            if not self.takes(","):
                return tuple(out)

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.too_long(f"this expression nests deeper than {MOST_DEPTH}", self.token)
        cond = self.binary()
        mark = self.takes("?")
        if mark:
            then = self.expression()
            self.expect(":", "behind the value of a condition that holds")
            cond = Ternary(cond, then, self.expression(), mark.span)
        self.depth -= 1
        return cond

    def binary(self, least: int = 0) -> Expression:
        """Operators that bind at least as tightly as those of level `least`."""
        left, count = self.unary(), 0
        while self.token.kind is TokenKind.MARK and (level := _LEVEL_OF.get(self.token.text, -1)) >= least:
            mark = self.next()
            left = BinaryOperation(mark.text, left, self.binary(level + 1), mark.span)
            count += 1
            if count > MOST_CHAIN:
                raise self.too_long(f"this expression has more than {MOST_CHAIN} operators in a row", mark)
        return left

    def too_long(self, headline: str, token: TextToken) -> Failed:
        return fail(LIMIT, headline, token.span, help="compute a part of it in a statement of its own")

    def unary(self) -> Expression:
        mark = self.takes("-", "+", "!", "~")
        if mark is None:
            return self.primary()
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.too_long(f"this expression nests deeper than {MOST_DEPTH}", self.token)
        out = Negation(mark.text, self.unary(), mark.span)
        self.depth -= 1
        return out

    def primary(self) -> Expression:
        token = self.token
        if self.takes("("):
            inner = self.expression()
            self.expect(")", "behind an expression in parentheses")
            return inner
        if token.kind is TokenKind.NUMBER:
            self.next()
            return Literal(token.text, token.span)
        if token.kind is not TokenKind.NAME:
            raise self.wrong("a value is expected here")
        self.next()
        if self.token.text == ".":
            self.next()
            position = self.next()
            if not position.text.isdigit() or len(position.text) > 3:
                self.at -= position.kind is not TokenKind.END
                raise self.wrong(
                    f"a position is expected behind `{token.text}.`", f"{token.text}.0 is its first extent"
                )
            return ExtentOf(token.text, int(position.text), _over(token.span, position.span))
        if self.token.text != "(":
            return NameUse(token.text, token.span)
        self.next()
        arguments = list[Expression]()
        while self.token.text != ")":
            arguments.append(self.expression())
            if not self.takes(","):
                break
        close = self.expect(")", f"behind the arguments of `{token.text}`")
        return Application(token.text, tuple(arguments), token.span, _over(token.span, close.span))


def _over(first: Span, last: Span) -> Span:
    return Span(first.source, first.start, last.end)
