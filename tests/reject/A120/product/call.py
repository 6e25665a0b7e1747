from mdh.gradient.derive import backward
from mdh.pipeline import Pipeline
from mdh.textfile import read_program_text

backward(Pipeline().read(read_program_text("input.c")))
