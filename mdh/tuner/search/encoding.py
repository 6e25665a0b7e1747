"""Encodes points as static, independent parameters, the only kind that Optuna's samplers model jointly.

A tile becomes one integer for each prime factor of its extent: the exponent. Along the tiles of a dimension
the exponents of a prime are sorted, largest first, so that any suggestion is a chain of divisors (a
suggestion and its permutations are one point). A tile whose values are not all divisors (a set, powers of
two) becomes its position among its values. A number becomes its position too, so that distance counts; a word
becomes a category. Decoding gives a wish, which the space's `nearest` turns into a legal point.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution
from optuna.trial import FrozenTrial, create_trial

from mdh.results.trial import Value
from mdh.results.variable import Metric, Point, Variable


@dataclass(frozen=True, slots=True)
class Encoding:
    """parameters: those with at least two values. primes: for each variable its primes, or none if it is
    encoded as a position. chains: positions of variables whose exponents, or values, are sorted together."""

    variables: tuple[Variable, ...]
    parameters: dict[str, BaseDistribution]
    primes: tuple[tuple[tuple[int, int], ...], ...]
    chains: tuple[tuple[int, ...], ...]

    def encode(self, point: Point) -> dict[str, int | str]:
        """The parameter values of a point; `decode` gives the point again."""
        out: dict[str, int | str] = {}
        for variable, primes, value in zip(self.variables, self.primes, point, strict=True):
            if len(variable.values) == 1:
                continue
            if primes:
                assert isinstance(value, int)
                out.update({f"{variable.name}^{p}": exponent(value, p) for p, _ in primes})
            elif variable.kind is Metric.WORD:
                out[variable.name] = str(value)
            else:
                out[variable.name] = variable.values.index(value)
        return out

    def decode(self, words: Mapping[str, int | str]) -> list[Value]:
        """The wish that the parameters express."""
        wish = [self._value(i, words) for i in range(len(self.variables))]
        for chain in self.chains:
            primes = self.primes[chain[0]]
            if primes:
                values = _sorted_exponents([self.variables[i].name for i in chain], primes, words)
            else:
                values = sorted((v for i in chain if isinstance(v := wish[i], int)), reverse=True)
            for i, value in zip(chain, values, strict=True):
                wish[i] = value
        return wish

    def trial(self, point: Point, **fields: Any) -> FrozenTrial:
        """A trial of Optuna at the point. fields: its state, value and attributes."""
        return create_trial(params=dict(self.encode(point)), distributions=self.parameters, **fields)

    def _value(self, i: int, words: Mapping[str, int | str]) -> Value:
        variable = self.variables[i]
        if len(variable.values) == 1 or self.primes[i]:
            return variable.values[0]
        word = words[variable.name]
        if variable.kind is Metric.WORD:
            return next(v for v in variable.values if str(v) == word)
        assert isinstance(word, int)
        return variable.values[word]


def exponent(value: int, prime: int) -> int:
    """The exponent of the prime in the value."""
    count = 0
    while value % prime == 0:
        value //= prime
        count += 1
    return count


def factors(n: int) -> tuple[tuple[int, int], ...]:
    """Primes and their exponents, ascending."""
    out, p = [], 2
    while p * p <= n:
        if n % p == 0:
            out.append((p, exponent(n, p)))
            n //= p ** out[-1][1]
        p += 1
    return (*out, (n, 1)) if n > 1 else tuple(out)


def _sorted_exponents(
    names: Sequence[str], primes: Sequence[tuple[int, int]], words: Mapping[str, int | str]
) -> list[int]:
    values = [1] * len(names)
    for p, _ in primes:
        exponents = sorted((int(words[f"{name}^{p}"]) for name in names), reverse=True)
        values = [v * p**e for v, e in zip(values, exponents, strict=True)]
    return values


def encoding_of(variables: tuple[Variable, ...]) -> Encoding:
    """The encoding of the variables. It depends on nothing else, so that every process that searches a space
    has the same parameters."""
    chains = chains_of(variables)
    primes: list[tuple[tuple[int, int], ...]] = [()] * len(variables)
    for chain in chains:
        values = [x for i in chain for x in variables[i].values]
        extent = variables[chain[0]].extent
        if extent and all(isinstance(x, int) and extent % x == 0 for x in values):
            for i in chain:
                primes[i] = factors(extent)
    parameters: dict[str, BaseDistribution] = {}
    for v, exponents in zip(variables, primes, strict=True):
        if len(v.values) == 1:
            continue
        if exponents:
            parameters.update((f"{v.name}^{p}", IntDistribution(0, e)) for p, e in exponents)
        elif v.kind is Metric.WORD:
            parameters[v.name] = CategoricalDistribution(tuple(str(x) for x in v.values))
        else:
            parameters[v.name] = IntDistribution(0, len(v.values) - 1)
    return Encoding(variables, parameters, tuple(primes), chains)


def chains_of(variables: tuple[Variable, ...]) -> tuple[tuple[int, ...], ...]:
    """The tiles of each dimension that are open, from the outermost in."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, v in enumerate(variables):
        if v.kind is Metric.TILE and v.dim and len(v.values) > 1:
            groups.setdefault((v.stage, v.dim), []).append(i)
    return tuple(tuple(sorted(g, key=lambda i: variables[i].step)) for g in groups.values())
