"""The records of the tuner: every trial on disk the moment it is known, and nothing that was there ever lost.

`file.Record` appends, `read.read_record` loads, `merge` joins, `export` hands on, `schedule_file` writes the
best schedule; `key` says which results may be compared.
"""
