"""`mdh.compile`, `mdh.check`, `mdh.tune` and the callable kernel: the pipeline for programs in Python."""
