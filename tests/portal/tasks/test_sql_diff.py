"""Two queries side by side: nothing is lost of either, and long ones take no time."""

from hypothesis import given
from hypothesis import strategies as st

from portal.tasks.sql_diff import Line, Row, side_by_side

_FEW = st.lists(st.sampled_from(["SELECT a", "SELECT b", "FROM t", "", "a b a b"]), max_size=8)


def changed(line: Line | None) -> list[str]:
    return [piece.text for piece in line.pieces if piece.changed] if line else []


def text(rows: list[Row], side: str) -> list[str]:
    lines = [line for row in rows if (line := getattr(row, side))]
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    return ["".join(piece.text for piece in line.pieces) for line in lines]


@given(_FEW, _FEW)
def test_each_side_is_its_query_whatever_changed(before: list[str], after: list[str]) -> None:
    rows = side_by_side("\n".join(before), "\n".join(after))
    assert text(rows, "before") == "\n".join(before).splitlines()
    assert text(rows, "after") == "\n".join(after).splitlines()
    for row in rows:
        if not row.changed:
            assert row.before is not None
            assert row.after is not None
            assert row.before.pieces == row.after.pieces


def test_words_that_changed_stand_out_between_those_that_did_not() -> None:
    [row] = side_by_side("SELECT a, b, c FROM t", "SELECT a, d, c, e FROM t")
    assert changed(row.before) == ["b"]
    assert changed(row.after) == ["d", ", e"]


def test_what_is_long_and_differs_at_both_ends_is_changed_as_a_whole() -> None:
    """Ten thousand words of a comment, one of them again and again, took minutes."""
    [row] = side_by_side("-- b " + "a " * 300 + "b", "-- c " + "a " * 9000 + "c")
    assert changed(row.before) == ["b " + "a " * 300 + "b"]
    assert changed(row.after) == ["c " + "a " * 9000 + "c"]


def test_what_is_long_and_differs_in_one_place_is_changed_there() -> None:
    [row] = side_by_side("-- " + "a " * 9000, "-- " + "a " * 4000 + "b " + "a " * 5000)
    assert (changed(row.before), changed(row.after)) == ([], ["b "])
    rows = side_by_side("\n" * 9000 + "x", "\n" * 9000 + "y")
    assert [row.after.number for row in rows if row.changed and row.after] == [9001]
