"""Checks that an attribute stands where it may and has arguments that it takes (S109, S110, S111, S114)."""

from collections.abc import Iterator
from typing import assert_never

from mdh.diagnostics import Diagnostic, labels_at
from mdh.schedule.attributes import ATTRIBUTES, Attribute, Parameter, Site
from mdh.schedule.model import Arg, ArgCall, Attr, Hole
from mdh.schedule.names import listed, nearest

FALLBACK_LIMIT = 8


def attribute_problems(attrs: tuple[Attr, ...], site: Site) -> list[Diagnostic]:
    """Everything wrong with the attributes of one entry or step, each at its own place."""
    out: list[Diagnostic] = []
    seen: dict[str, Attr] = {}
    for attr in attrs:
        known = ATTRIBUTES.get(attr.name)
        if known is None:
            out.append(_unknown(attr))
        elif site not in known.sites:
            out.append(_misplaced(attr, known, site))
        elif attr.name in seen:
            out.append(_repeated(attr, seen[attr.name]))
        else:
            out.extend(_argument_problems(attr, known))
        seen.setdefault(attr.name, attr)
    return out


def fits(value: int | str, parameter: Parameter) -> bool:
    """Whether the parameter takes a plain value. A word may be `grouped(8)` or `40/232`."""
    if isinstance(value, int):
        low, high = parameter.numbers or (1, 0)
        return low <= value <= high or value in parameter.choices
    if value in parameter.words or (parameter.counter and value.isidentifier()):
        return True
    head, _, rest = value.partition("(")
    if rest:
        number = rest.removesuffix(")")
        low, high = parameter.call_numbers
        return (
            head in parameter.calls and number.isdecimal() and len(number) < 20 and low <= int(number) <= high
        )
    return parameter.ratio and all(part.isdecimal() for part in value.split("/", 1)) and "/" in value


def legal_values(parameter: Parameter) -> str:
    """The values that a parameter takes, in words."""
    known = [f"`{w}`" for w in (*parameter.words, *parameter.choices)]
    low, high = parameter.call_numbers
    known += [f"`{call}(n)` with n from {low:,} to {high:,}" for call in parameter.calls]
    if parameter.numbers is not None:
        low, high = parameter.numbers
        known.append(f"a number from {low:,} to {high:,}")
    known += ["two numbers such as `40/232`"] if parameter.ratio else []
    known += ["the counter of a loop in C"] if parameter.counter else []
    return f"{', '.join(known[:-1])} or {known[-1]}" if len(known) > 1 else "".join(known)


def matched(attr: Attr) -> Iterator[tuple[Arg, Parameter]]:
    """Each argument with its parameter, without fallbacks. Arguments that have no parameter are left out."""
    positional = [p for p in ATTRIBUTES[attr.name].parameters if p.name is None]
    named = {p.name: p for p in ATTRIBUTES[attr.name].parameters if p.name is not None}
    for arg in attr.args:
        if arg.name is not None:
            if arg.name in named:
                yield arg, named[arg.name]
        elif positional:
            yield arg, positional.pop(0)


def _unknown(attr: Attr) -> Diagnostic:
    near = nearest(f"@{attr.name}", [f"@{name}" for name in ATTRIBUTES])
    help_ = near or f"attributes are {listed(sorted(ATTRIBUTES))}"
    return Diagnostic("S109", f"there is no attribute `@{attr.name[:60]}`", labels_at(attr.span), help=help_)


def _misplaced(attr: Attr, known: Attribute, site: Site) -> Diagnostic:
    labels = labels_at(attr.span, f"belongs to {' or '.join(known.sites)}")
    return Diagnostic("S110", f"`@{attr.name}` cannot stand on {site}", labels)


def _repeated(attr: Attr, first: Attr) -> Diagnostic:
    labels = labels_at(attr.span, "again here") + labels_at(first.span, "first here")
    return Diagnostic("S114", f"`@{attr.name}` is given twice", labels)


def _argument_problems(attr: Attr, known: Attribute) -> Iterator[Diagnostic]:
    taken: list[Parameter] = []
    pairs = {id(arg): parameter for arg, parameter in matched(attr)}
    for arg in attr.args:
        parameter = pairs.get(id(arg))
        if parameter is None or parameter in taken:
            yield _wrong(attr, known, arg, _surplus(arg, known, parameter is not None))
            return
        taken.append(parameter)
        yield from _value_problems(attr, known, arg, parameter)
    missing = [p for p in known.parameters if p.required and p not in taken]
    if missing:
        what = f"`{missing[0].name}=…`" if missing[0].name else "its argument"
        headline, help_ = f"`@{attr.name}` lacks {what}", f"write `{known.form}`"
        yield Diagnostic("S111", headline, labels_at(attr.span), help=help_)


def _surplus(arg: Arg, known: Attribute, again: bool) -> str:
    if again:
        return f"`{arg.name}` is given twice"
    names = [p.name for p in known.parameters if p.name]
    if arg.name is not None:
        return f"there is no argument `{arg.name[:60]}`"
    if names:
        return f"too many unnamed arguments; {listed(f'{n}=…' for n in names)} is written with its name"
    return "too many arguments" if known.parameters else "it takes no arguments"


def _value_problems(attr: Attr, known: Attribute, arg: Arg, parameter: Parameter) -> Iterator[Diagnostic]:
    alternative: Arg | None = arg
    count = 0
    while alternative is not None:
        wrong = _mismatch(alternative, parameter)
        if wrong:
            yield _wrong(attr, known, alternative, wrong, parameter)
        if count and (alternative.name is not None or not parameter.fallbacks):
            yield _wrong(attr, known, alternative, "`else` has no meaning here")
            return
        count += 1
        if count > FALLBACK_LIMIT:
            yield _wrong(attr, known, alternative, "too many `else`")
            return
        alternative = alternative.fallback


def _mismatch(arg: Arg, parameter: Parameter) -> str:
    match arg.value:
        case int() | str() as value:
            return "" if fits(value, parameter) else f"`{value}` is not a value it takes"
        case Hole() if parameter.counter:
            return "a counter is no hole"
        case Hole(_, None, _):
            return ""
        case Hole(_, values, _):
            bad = next((v for v in values or () if not fits(v, parameter)), None)
            return "" if bad is None else f"`{bad}` is not a value it takes"
        case ArgCall(name, args):
            return _call_mismatch(name, args, parameter)
        case _:
            assert_never(arg.value)


def _call_mismatch(name: str, args: tuple[Arg, ...], parameter: Parameter) -> str:
    if name not in parameter.calls:
        return f"`{name[:60]}(…)` is not a value it takes"
    if len(args) != 1 or args[0].name is not None or args[0].fallback is not None:
        return f"`{name}` takes one number"
    low, high = parameter.call_numbers
    match args[0].value:
        case int() as number if low <= number <= high:
            return ""
        case Hole(_, values, _) if all(isinstance(v, int) and low <= v <= high for v in values or ()):
            return ""
        case _:
            return f"`{name}` takes one number from {low} to {high}"


def _wrong(
    attr: Attr, known: Attribute, arg: Arg, what: str, parameter: Parameter | None = None
) -> Diagnostic:
    # words and choices are in the form, most ranges are not
    ranged = parameter is not None and parameter.numbers is not None and "…" not in known.form
    taken = f"; it takes {legal_values(parameter)}" if parameter is not None and ranged else ""
    headline, help_ = f"wrong argument of `@{attr.name}`: {what}", f"write `{known.form}`{taken}"
    return Diagnostic("S111", headline, labels_at(arg.span or attr.span), help=help_)
