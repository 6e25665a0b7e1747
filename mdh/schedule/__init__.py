"""The schedule language: parser, printer, attributes and holes.

`parser` reads both published spellings, and the `*_reader` modules their parts; `printer` writes the
canonical one; `binding` puts values into holes; `default/` derives a schedule where the user gives none.
"""
