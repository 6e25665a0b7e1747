"""Programs from texts in Python: `mdh.tc`, `mdh.diesel` and `mdh.c`."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from inspect import signature
from threading import Lock
from typing import Any

from mdh.api.compile import compile
from mdh.api.explained import explained
from mdh.api.kernel import Kernel
from mdh.api.options import of_type
from mdh.frontend.read import function_names
from mdh.source import Source
from mdh.textfile import plain

_OPTIONS = frozenset(signature(compile).parameters) - {"file", "function"}


class Functions:
    """The functions of a text, as attributes: `mdh.tc(text).mm(A, B)`. Each is an `mdh.Kernel`, made when it
    is first used. A name that Python does not take is a key: `mdh.tc(text)["2LUT"]`."""

    def __init__(self, source: Source, names: Sequence[str], options: Mapping[str, Any]) -> None:
        self._source, self._names, self._options = source, tuple(names), dict(options)
        self._kernels: dict[str, Kernel] = {}
        self._lock = Lock()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return f"<functions {', '.join(self._names)} of {self._source.name}>"

    def explain(self, /, *args: Any, **named: Any) -> str:
        """`explain` of the kernel of the only function. Raises Failed as that does, and AttributeError if
        there are several functions."""
        if len(self._names) > 1:
            known = ", ".join(self._names)
            raise AttributeError(f"the text defines {known}; explain one: functions.{self._names[0]}.explain")
        return self[self._names[0]].explain(*args, **named)

    def __getattr__(self, name: str) -> Kernel:
        if name.startswith("__") or name not in self._names:
            known = ", ".join(self._names)
            raise AttributeError(f"the text defines no function `{name}`; it defines {known}")
        return self[name]

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._names:
            raise KeyError(name)
        with self._lock:
            if name not in self._kernels:
                self._kernels[name] = compile(self._source, function=name, **self._options)
            return self._kernels[name]


def tc(text: str, **options: Any) -> Functions:
    """The functions of a Tensor Comprehensions text.

        C = mdh.tc('''
            def mm(float(M,K) A, float(K,N) B) -> (C) {
              C(m,n) +=! A(m,k) * B(k,n)
            }''').mm(A, B)

    A call binds sizes by the shapes of its arrays, and allocates results where the first of them lies, unless
    they are given as further arguments. options: those of `mdh.compile`, such as `schedule`, `device`,
    `tune`. Raises Failed, and TypeError for an option that there is not.
    """
    return _functions(text, "tc", options)


def c(text: str, **options: Any) -> Functions:
    """The functions of a C text: `mdh.c(text).matmul(A=A, B=B, C=C)`. options: those of `mdh.compile`. Raises
    Failed, and TypeError for an option that there is not."""
    return _functions(text, "c", options)


def diesel(text: str, **options: Any) -> Kernel:
    """A Diesel text as a callable of its matrices in order: `mdh.diesel(text)(A, B)`.

    It binds sizes and allocates results as the functions of `mdh.tc` do. options: those of `mdh.compile`.
    Raises Failed, and TypeError for an option that there is not.
    """
    with explained():
        source = _source(text, "diesel", options)
    return compile(source, **options)


def _functions(text: str, language: str, options: Mapping[str, Any]) -> Functions:
    with explained():
        source = _source(text, language, options)
        return Functions(source, function_names(source), options)


def _source(text: str, language: str, options: Mapping[str, Any]) -> Source:
    """A text in Python as a file of its language. Its name tells texts apart in messages. A Diesel text is
    one function, which is called like its file."""
    of_type("text", text, str, "a str")
    unknown = next((name for name in options if name not in _OPTIONS), None)
    if unknown is not None:
        raise TypeError(f"there is no option `{unknown}`; options: {', '.join(sorted(_OPTIONS))}")
    if language == "diesel":
        return plain("diesel.diesel", text)
    return plain(f"text-{sha256(text.encode()).hexdigest()[:8]}.{language}", text)
