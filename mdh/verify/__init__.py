"""Verifies what mdh makes.

`translation` compares the stages of every program with its C text before anything is built from them
(translation validation). It uses a small program that `scaling` derives. `arguments` and `index_data` draw
arrays, and `verdict` judges results.
"""
