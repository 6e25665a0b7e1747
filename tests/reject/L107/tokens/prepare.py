"""A text of more than twenty thousand tokens."""

from pathlib import Path

statements = "\n".join(f"C{n} = A;" for n in range(6_000))
Path("input.diesel").write_text(f"Params M, K;\nMatrix A(M,K);\n{statements}\n", encoding="utf-8")
