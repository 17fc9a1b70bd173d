"""The data dictionary as a page has it: every column once."""

from portal.releases.dictionary import Entry, TableEntry, columns_of


def test_a_column_that_is_a_key_here_and_beside_one_there_is_listed_once() -> None:
    key = Entry("country", "text", "", "Country.")
    beside = Entry("country", "text", "", "Country the place lies in.", is_beside=True)
    trips = Entry("num_trips", "real", "", "A noised sum.")
    tables = [
        TableEntry("by-country", "By country", 3, (key, trips)),
        TableEntry("cells", "Every cell", 9, (beside, trips)),
    ]
    first, second = columns_of(tables)
    assert first.meaning == "Country. Or: Country the place lies in. (Not in Parquet.)"
    assert not first.is_beside
    assert second == trips
