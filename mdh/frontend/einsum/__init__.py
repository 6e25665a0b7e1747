"""Sums of products by index letters: `bmk,bkn->bmn`, with numpy's grammar."""
