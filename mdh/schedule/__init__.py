"""The schedule language: parser, printer, attributes and holes.

`parser` reads both published spellings, with a `*_reader` module for each part. `printer` writes the
canonical spelling. `binding` puts values into holes. `default/` derives a schedule if the user gives none.
"""
