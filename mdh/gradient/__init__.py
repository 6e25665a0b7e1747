"""Backward programs: from a Program the C function that computes the gradients of its arrays.

`assignments` writes the stages as maps and sums whose arrays are assigned once. `adjoint` differentiates an
expression, by the rules of `functions`, and gives terms that belong to elements of the arrays that it reads.
`nests` turns such terms into sums for each element, which is what MDHs can compute: the gradient of a factor
of a contraction is a contraction. `c_expression` spells expressions in C. `derive` puts all of it together.

Source of the method: Griewank and Walther, "Evaluating Derivatives", 2008, reverse mode. Gradients of
statements as gathers: Hückelheim et al., "Automatic differentiation for adjoint stencil loops", ICPP 2019.
"""
