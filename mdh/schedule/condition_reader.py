"""Reads `where` conditions by precedence climbing."""

from mdh.diagnostics import fail
from mdh.schedule.cursor import NESTING_LIMIT, Cursor
from mdh.schedule.model import NameRef, Operation, Where, WhereExpr
from mdh.schedule.tokens import Token

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LEVELS: tuple[tuple[str, ...], ...] = (("or",), ("and",), ("not",), COMPARISONS, ("+", "-"), ("*", "/", "%"))
"""Operators by precedence, the weakest first. `not` is a prefix operator, and comparisons do not chain."""
OPERATOR_LIMIT = 200
CONDITION_LIMIT = 64
"""The most conditions of a stage. Each is evaluated for every point that is drawn from a space."""
_OPERAND = "a number, a hole such as `?bm`, a constant of the program or `(`"


def read_where(cursor: Cursor, before: int) -> Where:
    """The condition at the cursor. before: the number of conditions that the stage already has. Raises Failed
    S101, S104."""
    first = cursor.token
    if before == CONDITION_LIMIT:
        headline = f"the stage has more than {CONDITION_LIMIT} conditions"
        raise fail("S104", headline, cursor.span(first), help="join them with `and`, or name sets of values")
    comments = cursor.comments_before(first.start)
    cursor.take()
    reader = _ConditionReader(cursor)
    condition = reader.level(0)
    span = cursor.since(first)
    inner = cursor.comments_before(cursor.previous.end)
    return Where(condition, span, comments + inner, cursor.remark())


class _ConditionReader:
    """Reads one condition. It counts operators, so that no condition nests too deeply for the printer and the
    evaluator."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.operators = 0

    def level(self, level: int) -> WhereExpr:
        """An expression whose operators bind at least as strongly as LEVELS[level]."""
        if level == len(LEVELS):
            return self.factor()
        if LEVELS[level] == ("not",):
            return self.negation(level)
        first = self.cursor.token
        left = self.level(level + 1)
        while self._at(LEVELS[level]):
            operator = self._operator()
            right = self.level(level + 1)
            left = Operation(operator.text, (left, right), self.cursor.since(first))
            if LEVELS[level] == COMPARISONS:
                break
        return left

    def negation(self, level: int) -> WhereExpr:
        if not self.cursor.at_word("not"):
            return self.level(level + 1)
        first = self._operator()
        return Operation("not", (self.negation(level),), self.cursor.since(first))

    def factor(self) -> WhereExpr:
        if not self.cursor.at("-"):
            return self.atom()
        first = self._operator()
        return Operation("-", (self.factor(),), self.cursor.since(first))

    def atom(self) -> WhereExpr:
        cursor = self.cursor
        token = cursor.token
        if cursor.begins_item():
            raise fail(
                "S101",
                f"nothing stands behind `{cursor.previous.text}`",
                cursor.span(cursor.previous),
                label=f"expected {_OPERAND}",
            )
        if cursor.at("("):
            cursor.open("(", "`(`")
            inner = self.level(0)
            cursor.close("an operator")
            return inner
        if token.kind == "int":
            cursor.take()
            return int(token.text)
        if token.kind == "hole" and len(token.text) > 1:
            cursor.take()
            return NameRef(token.text[1:], True, cursor.span(token))
        if token.kind == "hole":
            raise cursor.unexpected(_OPERAND, "give the hole a name where it stands: `?bm` or `?bm{64,128}`")
        return NameRef(cursor.expect_kind("name", _OPERAND).text, False, cursor.span(token))

    def _at(self, operators: tuple[str, ...]) -> bool:
        return self.cursor.token.kind in {"sign", "name"} and self.cursor.token.text in operators

    def _operator(self) -> Token:
        self.operators += 1
        if self.operators > OPERATOR_LIMIT:
            raise fail(
                "S104",
                f"the condition has more than {OPERATOR_LIMIT} operators",
                self.cursor.span(self.cursor.token),
                help=f"split it into several `where`; parentheses nest up to {NESTING_LIMIT} levels",
            )
        return self.cursor.take()
