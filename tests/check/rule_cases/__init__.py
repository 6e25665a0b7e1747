"""For every rule the smallest schedule that it refuses, with the codes and places of its messages.

The cases stand by families of rules.
"""

from tests.check.rule_cases import atoms, copies, steps, sums, units, ways

CASES = (*steps.CASES, *sums.CASES, *copies.CASES, *units.CASES, *atoms.CASES, *ways.CASES)
