import hashlib
import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aggregation.errors import Problem
from aggregation.protocol.domains import Domain, Value

plain = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
texts = st.lists(st.text(plain, min_size=1), min_size=1, max_size=30, unique=True)
wholes = st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30, unique=True)
anything = st.one_of(st.text(), st.integers(), st.floats(), st.booleans(), st.none(), st.binary())


@given(st.one_of(texts, wholes))
def test_index_and_value_round_trip_in_the_declared_order(values: list[Value]) -> None:
    domain = Domain(values)
    assert list(domain) == values
    assert len(domain) == len(values)
    assert [domain[i] for i in range(len(domain))] == values
    assert domain.indices(values).tolist() == list(range(len(values)))
    assert [domain.index(v) for v in values] == list(range(len(values)))


@given(st.one_of(texts, wholes), st.lists(anything))
def test_what_is_not_in_the_domain_has_no_index(values: list[Value], asked: list[object]) -> None:
    domain = Domain(values)
    exact = {(type(v), v): i for i, v in enumerate(values)}
    expected = [exact.get((type(v), v), -1) if _hashable(v) else -1 for v in asked]
    assert domain.indices(asked).tolist() == expected


@given(texts, st.data())
def test_look_alikes_are_not_values(values: list[str], data: st.DataObject) -> None:
    domain = Domain(values)
    value = data.draw(st.sampled_from(values))
    for other in (f"{value}\0", f"\0{value}", f"{value} ", f"{value}\u200b", f"{value}\ud800", ""):
        assert (other in domain) == (other in values)


def test_numbers_and_their_text_are_different_values() -> None:
    numbers, text = Domain([1, 2, 3]), Domain(["1", "2", "3"])
    assert 1 in numbers
    assert "1" in text
    for stranger in ("1", 1.0, True, None, b"1", 2**80, -(2**80)):
        assert stranger not in numbers
    for stranger in (1, 1.0, True, None, b"1", "01", "１"):
        assert stranger not in text


def test_a_lone_surrogate_is_not_a_question_mark() -> None:
    domain = Domain(["?", "a"])
    assert "?" in domain
    assert "\ud800" not in domain


def test_composed_and_decomposed_spellings_are_different_values() -> None:
    domain = Domain(["Z\u00fcrich"])
    assert "Zu\u0308rich" not in domain


def test_a_value_longer_than_all_others_is_not_cut_to_fit() -> None:
    domain = Domain(["bus", "car"])
    assert "bust" not in domain
    assert "businesslike" not in domain


def test_index_raises_for_an_unknown_value() -> None:
    with pytest.raises(KeyError):
        Domain(["bus"]).index("train")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([], "at least one value"),
        (["a", "a"], "each of its values once"),
        ([1, 1], "each of its values once"),
        (["a", 1], "not both"),
        (["a", ""], "not both"),
        (["a\0"], "not both"),
        (["a\udc80"], "not both"),
        ([2**63], "64 bits"),
        ([True, False], "not both"),
        ([1.5], "not both"),
    ],
)
def test_it_refuses_what_is_no_closed_set(values: list[Value], sentence: str) -> None:
    with pytest.raises(Problem, match=sentence):
        Domain(values)


@given(st.one_of(texts, wholes))
def test_the_hash_is_that_of_the_values_as_compact_json(values: list[Value]) -> None:
    compact = json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode()
    assert Domain(values).sha256 == hashlib.sha256(compact).hexdigest()


def test_the_hash_depends_on_the_order() -> None:
    assert Domain(["a", "b"]).sha256 != Domain(["b", "a"]).sha256
    assert Domain([1]).sha256 != Domain(["1"]).sha256


@pytest.mark.parametrize("values", [["walking", "cycling", "Zürich", "東京"], [3, -1, 2**62]])
def test_a_file_gives_the_same_domain_mapped_into_memory(
    tmp_path: Path, values: list[Value]
) -> None:
    domain = Domain(values)
    path = domain.write(tmp_path)
    opened = Domain.open(path, sha256=domain.sha256)
    assert list(opened) == values
    assert opened.indices(values).tolist() == list(range(len(values)))
    assert isinstance(opened._array, np.memmap)
    assert not opened._array.flags.writeable


def test_writing_twice_is_harmless_and_leaves_nothing_beside(tmp_path: Path) -> None:
    domain = Domain(["a", "b"])
    assert domain.write(tmp_path) == domain.write(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [f"{domain.sha256}.npy"]


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _one_byte_changed(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1] + b"z")


def _text(path: Path) -> None:
    path.write_text("not an array")


def _pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps(["a", "b"]))


def _wide_text(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.array(["aa", "bb"]))


def _two_dimensional(path: Path) -> None:
    with path.open("wb") as file:
        np.save(file, np.array([[b"aa", b"bb"]]))


@pytest.mark.parametrize(
    "damage",
    [
        *(_empty, _cut_off, _one_byte_changed, _text, _pickled),
        *(_wide_text, _two_dimensional, Path.unlink),
    ],
)
def test_a_damaged_file_is_refused_with_a_remedy(tmp_path: Path, damage: object) -> None:
    domain = Domain(["aa", "bb"])
    path = domain.write(tmp_path)
    damage(path)  # type: ignore[operator]
    with pytest.raises(Problem, match=r"does not hold what its name says.*install_streams"):
        Domain.open(path, sha256=domain.sha256)


def _hashable(value: object) -> bool:
    return isinstance(value, str) or type(value) is int
