"""Five thousand blocks, one inside the other."""

from pathlib import Path

blocks = "{" * 5000 + "y[0] = 1;" + "}" * 5000
Path("input.c").write_text(f"void f(float y[8]) {{\n  {blocks}\n}}\n", encoding="utf-8")
