"""The statements after a place in a block that name a variable. They decide what becomes of a local."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from mdh.frontend.c.sink import LastValue


@dataclass(frozen=True)
class Behind:
    """Statements, the names in each (computed once for a whole block), and the number of the first one."""

    nodes: Sequence[c_ast.Node]
    names: list[frozenset[str]] = field(default_factory=list)
    first: int = 0
    before: tuple[c_ast.Node, ...] = ()

    @staticmethod
    def of(items: Sequence[c_ast.Node]) -> "Behind":
        return Behind(tuple(items))

    def at(self, first: int) -> "Behind":
        """The statements from number `first` on."""
        return Behind(self.nodes, self.names, first)

    def after(self, nodes: Sequence[c_ast.Node]) -> "Behind":
        """These statements after `nodes`."""
        return Behind(self.nodes, self.names, self.first, (*nodes, *self.before))

    def naming(self, name: str | None) -> list[c_ast.Node]:
        """The statements that contain `name`."""
        if not self.names:
            self.names.extend(_names(n) for n in self.nodes)
        own = [n for n in self.before if name in _names(n)]
        numbers = range(self.first, len(self.nodes))
        return [*own, *(self.nodes[k] for k in numbers if name in self.names[k])]


def _names(node: c_ast.Node) -> frozenset[str]:
    """The names of variables that a statement uses or declares, which do not change when locals move."""
    found: set[str] = set()
    left = [node]
    while left:
        n = left.pop()
        if isinstance(n, c_ast.ID | c_ast.Decl | LastValue) and n.name is not None:
            found.add(n.name)
        left.extend(child for _, child in n.children())
    return frozenset(found)
