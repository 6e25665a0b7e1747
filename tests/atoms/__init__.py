"""Tensor cores from schedule text: the atoms' tables, the kernels that they lower to, and what is refused."""
