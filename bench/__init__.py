"""Benchmarks: mdh beside the libraries, and what mdh itself costs."""
