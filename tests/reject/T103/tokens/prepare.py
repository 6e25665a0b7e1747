"""A text of more than fifty thousand tokens."""

from pathlib import Path

values = "\n".join(["  C(i) = A(i)"] * 6_000)
Path("input.tc").write_text(f"def f(float(N) A) -> (C) {{\n{values}\n}}\n", encoding="utf-8")
