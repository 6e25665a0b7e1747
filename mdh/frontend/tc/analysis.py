"""Checks the definitions of a function that need no sizes, and finds the types of its tensors."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from mdh.diagnostics import Diagnostic, Failed, Label, fail
from mdh.frontend.tc.checks import CALL, NAME, TARGET, check
from mdh.frontend.tc.ranges import accesses_of, names_in
from mdh.frontend.tc.syntax import (
    Application,
    CallStatement,
    Definition,
    Expression,
    NameUse,
    TcFunction,
    operands,
    walk,
)
from mdh.frontend.tc.types import (
    ANY_FLOAT,
    KIND,
    Typing,
    is_function,
    type_of,
)
from mdh.frontend.tc.whole import sizing
from mdh.frontend.token_stream import Word
from mdh.ir.dtype import F32, DType
from mdh.source import Span
from mdh.wording import meant

RESULT = "T114"


@dataclass(frozen=True)
class CheckedFunction:
    """A function whose definitions are right whatever its sizes are.

    inputs: types of tensors that are parameters. scalars: types of the other parameters. sizes: names of
    extents, and of integer scalars that subscripts or ranges use, in order. tensors: types of all tensors;
    ranks: their numbers of positions.
    """

    function: TcFunction
    inputs: Mapping[str, DType]
    scalars: Mapping[str, DType]
    sizes: tuple[str, ...]
    tensors: Mapping[str, DType]
    ranks: Mapping[str, int]
    calls: Mapping[str, "CheckedFunction"] = field(default_factory=dict)

    @cached_property
    def typing(self) -> Typing:
        return Typing(dict(self.tensors), dict(self.scalars))

    @cached_property
    def fixed(self) -> frozenset[str]:
        """Names that are no indices: sizes and scalars."""
        return frozenset((*self.sizes, *self.scalars))

    def indices(self, d: Definition) -> tuple[str, ...]:
        """Those of the target, then those that are reduced, in the order of the text."""
        names = [w.text for w in d.indices]
        names += [u.name for u in names_in(d.value) if u.name not in self.fixed]
        return tuple(dict.fromkeys(names))

    @cached_property
    def anew(self) -> tuple[str, ...]:
        """The results that are computed whole before they are read. The others begin with what they hold."""
        return tuple(r.text for r in self.function.results if self._is_anew(r.text))

    @cached_property
    def begun(self) -> tuple[str, ...]:
        """The results that begin with what they hold because their first statement is a reduction without
        `!`."""
        first = {r.text: self._writing(r.text)[0] for r in self.function.results if r.text not in self.anew}
        return tuple(n for n, d in first.items() if isinstance(d, Definition) and d.reduction and not d.fresh)

    def _writing(self, result: str) -> list[Definition | CallStatement]:
        """The statements that write it, in order."""
        return [
            s
            for s in self.function.body
            if result in ([s.target.text] if isinstance(s, Definition) else [t.text for t in s.targets])
        ]

    def _is_anew(self, result: str) -> bool:
        every = self._writing(result)
        first = every[0]
        if isinstance(first, CallStatement):
            callee = self.calls[first.function.text]
            place = [t.text for t in first.targets].index(result)
            return callee.function.results[place].text in callee.anew
        # a range on the left leaves elements out if a later statement says how large the tensor is
        part = {r.index.text for r in first.ranges} & {w.text for w in first.indices}
        starts = first.fresh or not first.reduction
        own = any(a.name == result for a in self.accesses(first))
        return starts and not own and not (part and len(every) > 1 and result not in self._sizing)

    @cached_property
    def _sizing(self) -> frozenset[str]:
        """The tensors whose first statement says how large they are."""
        return sizing(self.function, self.ranks, self.fixed)

    def reduced(self, d: Definition) -> tuple[str, ...]:
        kept = {w.text for w in d.indices}
        return tuple(n for n in self.indices(d) if n not in kept)

    def accesses(self, d: Definition) -> list[Application]:
        return accesses_of(d.value, self.tensors)


def analyse(
    function: TcFunction, functions: Mapping[str, TcFunction], above: tuple[str, ...] = ()
) -> CheckedFunction:
    """The analysis of a function and of those that it calls. above: the functions that call it. Raises Failed
    with T1xx diagnostics."""
    inputs, ranks, scalars = _parameters(function)
    calls = _calls(function, functions, above)
    found = list[Diagnostic]()
    callees = {name: (a.function, a.ranks) for name, a in calls.items()}
    for s in function.body:
        try:
            check(s, function, inputs, scalars, ranks, callees)
        except Failed as failed:
            found += failed.diagnostics
            # what is computed wrongly is defined all the same
            for name, rank in targets_of(s).items():
                ranks.setdefault(name, rank)
    if found:
        raise Failed(*found)
    for r in function.results:
        if r.text not in ranks:
            raise fail(
                RESULT,
                f"`{function.name.text}` never computes its result `{r.text}`",
                r.span,
                help=f"define it: {r.text}(i) = …",
            )
    sizes = _sizes(function, scalars, ranks)
    types = _types(function, inputs, scalars, calls)
    return CheckedFunction(function, inputs, scalars, sizes, types, ranks, calls)


def targets_of(s: Definition | CallStatement) -> dict[str, int]:
    """The tensors that a statement computes, with their ranks where it says them."""
    return {s.target.text: len(s.indices)} if isinstance(s, Definition) else {}


def _parameters(f: TcFunction) -> tuple[dict[str, DType], dict[str, int], dict[str, DType]]:
    """The types and the ranks of tensors, and the types of scalars."""
    inputs, ranks, scalars = dict[str, DType](), dict[str, int](), dict[str, DType]()
    for p in f.parameters:
        if p.name.text in inputs or p.name.text in scalars:
            raise fail(
                NAME, f"two parameters are called `{p.name.text}`", p.name.span, help="rename one of them"
            )
        if p.extents:
            inputs[p.name.text] = type_of(p.kind)
            ranks[p.name.text] = len(p.extents)
        else:
            scalars[p.name.text] = type_of(p.kind)
    for p in f.parameters:
        for n in p.extents:
            if isinstance(n, Word) and scalars.get(n.text) is not None and scalars[n.text].is_float:
                raise fail(
                    KIND,
                    f"the extent `{n.text}` is a {scalars[n.text].name}",
                    n.span,
                    help="sizes are integers",
                )
    seen = set[str]()
    for r in f.results:
        if r.text in seen:
            raise fail(NAME, f"the result `{r.text}` is named twice", r.span, help="name it once")
        if r.text in inputs or r.text in scalars:
            raise fail(
                TARGET,
                f"the result `{r.text}` is a parameter, which is never changed",
                r.span,
                help="give the result a name of its own",
            )
        seen.add(r.text)
    return inputs, ranks, scalars


def _calls(
    f: TcFunction, functions: Mapping[str, TcFunction], above: tuple[str, ...]
) -> dict[str, CheckedFunction]:
    out: dict[str, CheckedFunction] = {}
    for s in f.body:
        if isinstance(s, CallStatement):
            name = s.function.text
            if name not in functions:
                raise fail(
                    CALL,
                    f"`{name}` is no function of this text",
                    s.function.span,
                    help=meant(
                        name, functions, cutoff=0.5, otherwise=f"write def {name}(…) -> (…) {{ … }} first"
                    ),
                )
            if name in (*above, f.name.text):
                raise fail(
                    CALL,
                    f"`{name}` calls itself",
                    s.function.span,
                    help="compute it in statements of its own",
                )
            if name not in out:
                out[name] = analyse(functions[name], functions, (*above, f.name.text))
    return out


def _sizes(f: TcFunction, scalars: Mapping[str, DType], ranks: Mapping[str, int]) -> tuple[str, ...]:
    out = dict.fromkeys(n.text for p in f.parameters for n in p.extents if isinstance(n, Word))
    counted = list[Expression]()
    for s in f.body:
        if isinstance(s, Definition):
            counted += [x for r in s.ranges for x in (r.first, r.end)]
            counted += [e for a in accesses_of(s.value, ranks) for e in a.arguments]
    for u in (u for e in counted for u in _plain_names(e, ranks)):
        if u.name in scalars:
            if scalars[u.name].is_float:
                raise fail(
                    KIND,
                    f"the subscript `{u.name}` is a {scalars[u.name].name}",
                    u.span,
                    help="subscripts are integers",
                )
            out[u.name] = None
    return tuple(out)


def _plain_names(e: Expression, tensors: Mapping[str, int]) -> Iterator[NameUse]:
    """The names in a subscript, but for those in the subscripts of tensors inside of it."""
    if isinstance(e, Application) and e.name in tensors:
        return
    if isinstance(e, NameUse):
        yield e
    for x in operands(e):
        yield from _plain_names(x, tensors)


def _types(
    f: TcFunction,
    inputs: Mapping[str, DType],
    scalars: Mapping[str, DType],
    calls: Mapping[str, "CheckedFunction"],
) -> dict[str, DType]:
    """The types of all tensors. A tensor has the type of the first value that is not made of literals
    alone."""
    out = dict(inputs)
    for s in f.body:
        if isinstance(s, CallStatement):
            callee = calls[s.function.text]
            pairs = zip(s.targets, callee.function.results, strict=True)
            out |= {t.text: callee.tensors[r.text] for t, r in pairs}
    left: dict[str, list[Definition]] = {}
    for s in f.body:
        if isinstance(s, Definition) and s.target.text not in out:
            left.setdefault(s.target.text, []).append(s)
    while left:
        known = {**dict.fromkeys(left), **out}
        found = {n: t for n, every in left.items() if (t := _first(n, every, known, scalars)) is not None}
        if not found:
            # made of literals alone; others wait for such a tensor
            alone = (n for n, every in left.items() if all(_ready(d, out) for d in every))
            name = next(alone, next(iter(left)))
            typing = Typing(known, scalars)
            some_float = any(typing.of(d.value) == ANY_FLOAT for d in left[name])
            found = {name: F32 if some_float else typing.stored(left[name][0].value)}
        out |= found
        left = {n: every for n, every in left.items() if n not in found}
    _check_types(f, out, scalars, calls)
    return out


def _first(
    name: str, every: list[Definition], known: Mapping[str, DType | None], scalars: Mapping[str, DType]
) -> DType | None:
    """The type of the first value that says one; None if tensors in front of it have none yet."""
    typing = Typing({**known, name: None}, scalars)
    literals: DType | None = None
    for d in every:
        if not _ready(d, known):
            return None
        kind = typing.of(d.value)
        if kind is not None and kind != ANY_FLOAT:
            return typing.joined(kind, literals)
        literals = literals or kind
    return None


def _check_types(
    f: TcFunction,
    types: Mapping[str, DType],
    scalars: Mapping[str, DType],
    calls: Mapping[str, "CheckedFunction"],
) -> None:
    """Raises Failed T112 for floats where integers are needed, T115 for arguments of other types."""
    typing = Typing(types, scalars)
    for s in f.body:
        if isinstance(s, CallStatement):
            for a, p in zip(s.arguments, calls[s.function.text].function.parameters, strict=True):
                wanted = type_of(p.kind)
                if types[a.text] != wanted:
                    labels = (Label(a.span), Label(p.kind.span, "the parameter's type"))
                    headline = f"`{a.text}` holds {types[a.text].name}, `{p.name.text}` takes {wanted.name}"
                    hint = f"convert it first: X(i) = {p.kind.text}({a.text}(i))"
                    raise Failed(Diagnostic(CALL, headline, labels, help=hint))
            continue
        value, target = typing.of(s.value), types[s.target.text]
        if s.reduction and value is not None and value.is_float and not target.is_float:
            what = f"`{s.target.text}` holds {target.name}, and what is combined into it is a float"
            hint = f"say float where `{s.target.text}` is computed first: float(…), 0.0"
            raise fail(KIND, what, s.span, help=hint)
        for e in (e for a in accesses_of(s.value, types) for e in a.arguments):
            kind = typing.of(e)
            if kind is not None and kind.is_float:
                raise fail(KIND, "a subscript is a float", _place(e), help="subscripts are integers")


def _ready(d: Definition, known: Mapping[str, DType | None]) -> bool:
    """Whether the types of all tensors in a value are known, save the one that it defines. A tensor may be
    called like a function."""
    names = {x.name for x in walk(d.value) if isinstance(x, Application)} - {d.target.text}
    return all(known[n] is not None if n in known else is_function(n) for n in names)


def _place(e: Expression) -> Span:
    return e.whole if isinstance(e, Application) else e.span
