"""Random programs in Tensor Comprehensions, Diesel and einsum, with evaluators of their own."""
