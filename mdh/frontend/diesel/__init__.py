"""Diesel: expressions of matrices. Source of the language: Elango et al., "Diesel: DSL for Linear Algebra and
Neural Net Computations on GPUs", MAPL 2018, figure 3 and table 1."""
