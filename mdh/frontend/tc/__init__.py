"""Tensor Comprehensions: reads `.tc` texts, infers the ranges of indices, and writes them as loop nests.

Source of the language: Vasilache et al., "Tensor Comprehensions: Framework-Agnostic High-Performance Machine
Learning Abstractions", 2018, section 3 and figure 14.
"""
