"""The quick check of tokens says the same as the protocol's own."""

from hypothesis import given
from hypothesis import strategies as st

from aggregation.protocol.tokens import is_token, token
from portal.device_api.token_check import TokenCheck

keys = st.binary(min_size=32, max_size=32)
sessions = st.binary(min_size=16, max_size=16).map(bytes.hex)
updates = st.binary(min_size=8, max_size=8).map(bytes.hex)
anything = st.text(st.characters(max_codepoint=255), max_size=40)


@given(keys, sessions, updates)
def test_a_token_that_was_made_is_a_token(key, session, update):
    made = token(key, session=session, update=update).encode()
    checked = TokenCheck(key).update_of(made, session, update.encode())
    assert checked == bytes.fromhex(update)


@given(keys, sessions | anything, updates | anything, anything)
def test_it_agrees_with_the_protocol_on_everything_else(key, session, update, given_token):
    raw_token, raw_update = given_token.encode("latin-1"), update.encode("latin-1")
    checked = TokenCheck(key).update_of(raw_token, session, raw_update)
    assert (checked is not None) == is_token(key, given_token, session=session, update=update)


@given(keys, sessions, updates, st.sampled_from([str.upper, lambda t: t[:-1], lambda t: t + "0"]))
def test_another_spelling_is_another_token(key, session, update, change):
    made = token(key, session=session, update=update)
    check = TokenCheck(key)
    if change(made) != made:
        assert check.update_of(change(made).encode(), session, update.encode()) is None
    if change(session) != session:
        assert check.update_of(made.encode(), change(session), update.encode()) is None
