"""Chooses what is measured next. `proposals` takes points from a searcher, `shortlist` keeps those that the
cost model expects to be fast, `foresight` previews the model's pruning of a space, and `open_tiles` makes the
tiles of a schedule holes."""
