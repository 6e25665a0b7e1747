"""Elements that a block has certainly assigned: later reads in it see no value from before it."""

from collections.abc import Sequence
from dataclasses import dataclass

from mdh.reference.slicing.forms import AffineForm, hull
from mdh.reference.slicing.model import DeclaredVariable, Subscript


@dataclass(frozen=True, slots=True)
class Assigned:
    """subscripts: each a form over the loops around the block, or an interval with every value."""

    variable: DeclaredVariable
    subscripts: tuple[AffineForm | tuple[int, int], ...]

    def swept(self, loop: int, values: range) -> "Assigned | None":
        """What the loop at this place of those around has assigned when it is over; None: no whole box."""
        if len(values) == 0:
            return None
        out, uses = list[AffineForm | tuple[int, int]](), 0
        for s in self.subscripts:
            if isinstance(s, tuple) or not s.at(loop):
                out.append(s)
                continue
            uses += 1
            if abs(s.at(loop) * values.step) != 1 or any(s.coefficients[:loop]) or uses > 1:
                return None
            out.append(_interval(s.constant, s.at(loop), values))
        return Assigned(self.variable, tuple(out))

    def holds(self, forms: Sequence[Subscript], trips: Sequence[range]) -> bool:
        """Whether such an element is certainly among them. trips: the loops' values there."""
        return all(_among(f, s, trips) for f, s in zip(forms, self.subscripts, strict=True))


def _interval(constant: int, coefficient: int, values: range) -> tuple[int, int]:
    ends = constant + coefficient * values[0], constant + coefficient * values[-1]
    return min(ends), max(ends)


def _among(form: Subscript, subscript: AffineForm | tuple[int, int], trips: Sequence[range]) -> bool:
    if not isinstance(form, AffineForm) or not isinstance(subscript, tuple):
        return form == subscript
    low, high = hull(form.constant, form.coefficients, trips)
    return subscript[0] <= low and high <= subscript[1]
