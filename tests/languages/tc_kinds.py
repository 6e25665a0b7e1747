"""The types of a function's tensors: of the first value that is not made of literals alone, and of the
literals in front of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.languages.kinds import F32, FLOAT, I32, INTEGER, NAMES, Kind, common, is_float, promoted
from tests.languages.tc_syntax import (
    COMPARISONS,
    Apply,
    At,
    Binary,
    Call,
    Choose,
    Define,
    Expr,
    Extent,
    Func,
    Name,
    Num,
    Unary,
)

CHOICES = ("min", "max", "abs")
"""Functions that integers have, too."""
BASES = frozenset(
    [
        "exp",
        "tanh",
        "sqrt",
        "fmax",
        "fmin",
        "fabs",
        "floor",
        "erf",
        "sin",
        "pow",
        "fdim",
        "erfc",
        "asinh",
        "rsqrt",
        "exp10",
    ]
)


class Kinds:
    """Types of names of a function."""

    def __init__(self, f: Func, functions: Mapping[str, Func]) -> None:
        self.function, self.functions = f, functions
        self.tensors: dict[str, Kind] = {p.name: NAMES[p.kind] for p in f.params if p.extents}
        self.scalars = {p.name: NAMES[p.kind] for p in f.params if not p.extents}
        self._open: set[str] = set()
        for s in f.body:
            if isinstance(s, Call):
                callee = functions[s.function]
                inner = Kinds(callee, functions)
                found = zip(s.targets, callee.results, strict=True)
                self.tensors |= {t: inner.tensor(r) for t, r in found}

    def tensor(self, name: str) -> np.dtype[Any]:
        """The type of a tensor's elements."""
        if name not in self.tensors:
            self._open.add(name)
            own = [s.value for s in self.function.body if isinstance(s, Define) and s.target == name]
            literals: Kind = INTEGER
            found: Kind = INTEGER
            for e in own:
                found = self.of(e)
                if not isinstance(found, str):
                    break
                literals = common(literals, found)
            self._open.discard(name)
            # `C(i) = 0.5` makes a float of what is added to it
            found = common(found, FLOAT) if literals == FLOAT else found
            self.tensors[name] = (F32 if found == FLOAT else I32) if isinstance(found, str) else found
        known = self.tensors[name]
        assert not isinstance(known, str)
        return known

    def of(self, e: Expr) -> Kind:
        """The type of a value. Elements of the tensor that is looked for have none."""
        match e:
            case Num():
                return FLOAT if e.is_float else INTEGER
            case Name():
                return self.scalars.get(e.name, I32)
            case Extent():
                return I32
            case At():
                return INTEGER if e.tensor in self._open else self.tensor(e.tensor)
            case Apply():
                return self._apply(e)
            case Unary():
                return I32 if e.op == "!" else promoted(self.of(e.operand))
            case Binary():
                return I32 if e.op in COMPARISONS else promoted(common(self.of(e.left), self.of(e.right)))
            case Choose():
                return promoted(common(self.of(e.then), self.of(e.other)))

    def _apply(self, e: Apply) -> Kind:
        if e.function in NAMES:
            return NAMES[e.function]
        kind: Kind = INTEGER
        for a in e.arguments:
            kind = common(kind, self.of(a))
        if e.function in CHOICES:
            return promoted(kind)
        return kind if is_float(kind) and e.function in BASES else F32
