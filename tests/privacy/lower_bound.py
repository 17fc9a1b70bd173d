"""The ε audit: a lower bound on ε from what is published on two neighbouring data sets.

For every event A, an ε-private release has P(A | D′) ≤ e^ε P(A | D). Half of the samples choose the
event; the other half counts it, and a Clopper–Pearson interval for each probability, 99.9 % one
sided, gives ln(p_low / q_high): below the true ε unless one of the two fails, so that a correct
release is flagged with probability at most 0.2 % (once chosen, the event is tested once).

The events are all that a reader could try on all published fields: above or below a value, equal
to a value, how fine a number's last bit is, the direction in which the fields differ most, and the
best test of two Laplace laws on all noised numbers together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

Fields = dict[str, np.ndarray]

_TAIL = 0.001
_NOTHING = -1e300
# Where numbers are cut in two; the tails matter most.
_CUTS = np.concatenate([np.geomspace(0.001, 0.1, 10), np.linspace(0.12, 0.5, 16)])
_CUTS = np.concatenate([_CUTS, 1 - _CUTS])


@dataclass(frozen=True)
class _Event:
    """Numbers from `low` to `high`, both included."""

    low: float
    high: float

    def share_of(self, x: np.ndarray) -> tuple[int, int]:
        return int(((x >= self.low) & (x <= self.high)).sum()), len(x)


def epsilon_lower_bound(one: Fields, other: Fields) -> tuple[float, str]:
    """The bound, and the event that gave it."""
    assert set(one) == set(other)
    best, told, bound = -np.inf, "", -np.inf
    for name, x, y in _features(one, other):
        promise, event, has_more_y = _best_event(x[::2], y[::2])
        if promise > best:
            more, less = (y, x) if has_more_y else (x, y)
            best, bound = promise, float(_bound(*event.share_of(more[1::2]),
                                                *event.share_of(less[1::2])))  # fmt: skip
            told = f"{name} in [{event.low:g}, {event.high:g}]: {best:.2f}, then {bound:.2f}"
    return bound, told


def _best_event(x: np.ndarray, y: np.ndarray) -> tuple[float, _Event, bool]:
    """The event that promises most, among these samples; whether it is y that has more of it."""
    x, y, pool = np.sort(x), np.sort(y), np.sort(np.concatenate([x, y]))
    cuts = np.unique(pool[(_CUTS * len(pool)).astype(int)])
    atoms = cuts[np.searchsorted(pool, cuts, "right") - np.searchsorted(pool, cuts) > 20]
    above = np.nextafter(cuts, np.inf)
    low = np.concatenate([np.full(len(cuts), -np.inf), above, atoms])
    high = np.concatenate([cuts, np.full(len(cuts), np.inf), atoms])
    in_x, in_y = (np.searchsorted(s, high, "right") - np.searchsorted(s, low) for s in (x, y))
    bounds = np.stack([_bound(in_x, len(x), in_y, len(y)), _bound(in_y, len(y), in_x, len(x))])
    way, place = np.unravel_index(np.argmax(bounds), bounds.shape)
    return float(bounds[way, place]), _Event(low[place], high[place]), bool(way)


def _bound(k: np.ndarray | int, n: int, j: np.ndarray | int, m: int) -> np.ndarray:
    k, j = np.asarray(k, dtype=float), np.asarray(j, dtype=float)
    low = np.where(k > 0, special.betaincinv(np.maximum(k, 1), n - k + 1, _TAIL), 0.0)
    high = np.where(j < m, special.betaincinv(j + 1, np.maximum(m - j, 1), 1 - _TAIL), 1.0)
    with np.errstate(divide="ignore"):
        return np.log(low / high)


def _features(one: Fields, other: Fields) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    names = list(one)
    for name in names:
        x, y = (np.nan_to_num(f[name].astype(float), nan=_NOTHING) for f in (one, other))
        yield name, x, y
        if one[name].dtype.kind == "f":
            yield f"last bit of {name}", _last_bit(x), _last_bit(y)
    numbers = [n for n in names if np.isfinite(one[n]).all() and np.isfinite(other[n]).all()]
    yield "direction of most difference", *_direction(one, other, numbers)
    yield "likelihood of all noised numbers", *_likelihood(one, other)


def _last_bit(x: np.ndarray) -> np.ndarray:
    """The power of two of the last bit that is set."""
    mantissa, exponent = np.frexp(np.where(np.abs(x) < 1e200, x, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    return np.where(whole == 0, 0, exponent - 53 + np.log2((whole & -whole).clip(1)))


def _direction(one: Fields, other: Fields, names: list[str]) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.stack([f[n].astype(float) for n in names], axis=1) for f in (one, other))
    spread = np.maximum(x[::2].std(axis=0), 1e-12)
    x, y = x / spread, y / spread
    within = np.cov(x[::2].T) + np.cov(y[::2].T) + 1e-9 * np.eye(len(names))
    weights = np.linalg.solve(within, y[::2].mean(axis=0) - x[::2].mean(axis=0))
    return x @ weights, y @ weights


def _likelihood(one: Fields, other: Fields) -> tuple[np.ndarray, np.ndarray]:
    """The ratio for Laplace laws is linear between their centres and flat beyond them."""
    scores = [np.zeros(len(f["noised 0"])) for f in (one, other)]
    for name in (n for n in one if n.startswith("noised")):
        centres = [np.median(f[name][::2]) for f in (one, other)]
        gap, spread = centres[1] - centres[0], stats.iqr(one[name][::2])
        if abs(gap) > 0.1 * spread:
            for place, fields in enumerate((one, other)):
                scores[place] += ((fields[name] - centres[0]) / gap).clip(0, 1)
    return scores[0], scores[1]
