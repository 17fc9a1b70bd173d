"""Sums are exact: any order, batches, sessions and hand-overs give what a plain oracle gives."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from aggregation.core.checks import Params
from aggregation.core.group_by_sum import GroupBySum
from aggregation.protocol.refusal import Reason
from aggregation.protocol.windows import Window
from aggregation.sessions.collector import Collector
from tests.aggregation.sessions.examples import CELLS, CONFIG, LATER, NEXT, WEEK, Room, config

Sum = dict[tuple[Window, int, int], int]

cells = st.dictionaries(
    st.integers(0, CELLS + 1),
    st.lists(st.integers(-(2**19), 2**19), min_size=2, max_size=2),
    max_size=6,
).map(lambda rows: dict(sorted(rows.items())))
devices = st.lists(
    st.dictionaries(st.sampled_from([WEEK, NEXT, LATER]), cells, min_size=1), max_size=8
)


def is_good(rows: dict[int, list[int]]) -> bool:
    return (
        all(rank < CELLS for rank in rows)
        and sum(abs(n) for r in rows.values() for n in r) <= 2**20
    )


def oracle(drawn: list[dict[Window, dict[int, list[int]]]], open_: set[Window]) -> Sum:
    """What the paper says, update by update, in Python's integers."""
    total: Counter[tuple[Window, int, int]] = Counter()
    for update in drawn:
        if LATER in update or not all(map(is_good, update.values())):
            continue
        for window in update.keys() & open_:
            for rank, row in update[window].items():
                for metric, number in enumerate(row):
                    total[window, rank, metric] += number
    return {key: number for key, number in total.items() if number}


def contents(core: GroupBySum, window: Window) -> Sum:
    sums = core.report().sums.tolist()
    return {
        (window, rank, metric): number
        for rank, row in enumerate(sums)
        for metric, number in enumerate(row)
        if number
    }


@given(drawn=devices, random=st.randoms(use_true_random=False), closes=st.booleans())
def test_a_session_sums_what_the_oracle_sums(drawn, random, closes) -> None:
    room = Room(config=config(min_contributions=0))
    open_ = {NEXT} if closes else {WEEK, NEXT}
    room.session.set_open(open_)
    batch = [room.update(update) for update in drawn]
    sent = batch + random.choices(batch, k=len(batch)) if batch else []
    random.shuffle(sent)
    while sent:
        cut = random.randint(1, len(sent))
        room.session.take(sent[:cut])
        sent = sent[cut:]
    done = room.session.complete(open_windows=open_)
    found: Sum = {}
    for big in done.big:
        found |= contents(GroupBySum.parse(big.state, Params.of(room.config)), big.window)
    assert found == oracle(drawn, open_)
    assert room.session.counts.get(Reason.DUPLICATE, 0) == len(batch)


@given(drawn=devices, random=st.randoms(use_true_random=False), rooms=st.integers(1, 4))
def test_so_do_sessions_that_hand_over_to_each_other(drawn, random, rooms) -> None:
    """Every device to a session of its own choice, every session at last to the collector."""
    small = config(min_contributions=1000)
    party = [Room(config=small) for _ in range(rooms)]
    accepted: list[tuple[str, str]] = []
    for update in drawn:
        room = random.choice(party)
        sealed = room.update(update)
        if room.session.take([sealed]).accepted:
            accepted.append((room.id, sealed[0]))
    end = {window: Collector(id="ab" * 16, config=small) for window in (WEEK, NEXT)}
    while party:
        giver = party.pop(random.randrange(len(party)))
        taker = random.choice([*party, None])
        for part in giver.session.complete(open_windows=end, handing_over=end).small:
            if taker is None:
                end[part.window].take_over(part.state, from_session=giver.id)
            else:
                taker.session.take_over(part.state, from_session=giver.id, window=part.window)
    found: Sum = {}
    receipts: set[tuple[str, str]] = set()
    for window, collector in end.items():
        whole = collector.finish(GroupBySum(Params.of(CONFIG)))
        found |= contents(whole.core, window)
        for origin, blob in whole.receipts.items():
            receipts |= {(origin, blob[at : at + 8].hex()) for at in range(0, len(blob), 8)}
    assert found == oracle(drawn, {WEEK, NEXT})
    assert receipts == set(accepted)
