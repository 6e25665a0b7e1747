from pathlib import Path

text = f"void f(long y[8]) {{\n  for (int i = 0; i < 8; i++)\n    y[i] = {'9' * 5000};\n}}\n"
Path("input.c").write_text(text, encoding="utf-8")
