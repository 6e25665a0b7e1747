"""The records of the tuner: every trial is on disk as soon as it is known, and none is ever lost.

`file.Record` appends, `read.read_record` loads, `merge` joins records, `export` writes other formats, and
`schedule_file` writes the best schedule. `key` says which results may be compared.
"""
