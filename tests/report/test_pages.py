"""Pages of codes in a terminal."""

from mdh.report.pages import plain

PAGE = """# X100: a title

> One rule
> in two rows.

Words of a paragraph
in two rows:
- an item
  in two rows
- another

    an example   stays
    as it is
"""


def test_paragraphs_are_wrapped_as_a_whole() -> None:
    assert plain(PAGE, 40).splitlines() == [
        "X100: a title",
        "",
        "  One rule in two rows.",
        "",
        "Words of a paragraph in two rows:",
        "- an item in two rows",
        "- another",
        "",
        "    an example   stays",
        "    as it is",
    ]


def test_each_row_fits() -> None:
    rows = plain(PAGE, 20).splitlines()
    assert all(len(row) <= 20 for row in rows if not row.startswith("    "))
