"""A sum of twenty thousand terms."""

from pathlib import Path

terms = "+".join(["1"] * 20_000)
Path("input.c").write_text(
    f"void f(float y[8]) {{ for (int i = 0; i < 8; i++) y[i] = {terms}; }}\n", encoding="utf-8"
)
