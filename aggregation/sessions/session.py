"""One session: one revision's updates, opened, checked and summed in the memory of one process.

    take* ─► set_open* ─► take_over* ─► … ─► complete ─► partials | hand-overs, with receipts

What the privacy of a release rests on here:

- **At most one contribution per device and window.** An update counts under one id, made by the
  server for one assignment and bound into the seal; the first update that opens under an id
  spends it. What was counted leaves with its receipts, once: `complete` consumes the session.
- **Bounded contributions.** Each part is checked by the core before anything is added: the second
  of the two checks (the first is the device's) on which sensitivity rests.
- **A whole update or nothing.** One bad part refuses all parts, and changes no sum. The one
  exception is a part whose window has closed meanwhile: it is dropped and counted, for neither
  the device nor its data decided that. A window that was never open here was never asked for.
- **Being small never decides whether a sum counts**, only where it waits. If a session could be
  dropped for having fewer than k devices, one device more or less would decide over k − 1 others,
  and the noise, made for one device, would not hide it. So `complete` refuses as a whole, and
  keeps everything, unless each small window has somebody to take it over.
- **Memory only.** Nothing here can write a file or a log line. What an update holds never gets
  into an exception, a name or a count other than of its reason, and is never answered to a device.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aggregation.core.checks import Params
from aggregation.errors import Problem
from aggregation.protocol.ids import raw_session
from aggregation.protocol.refusal import Reason
from aggregation.protocol.sealing import Helper, SessionKeys
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.windows import Window
from aggregation.sessions.completion import Big, Completion, Small
from aggregation.sessions.held import Held
from aggregation.sessions.intake import Checked, Intake, Sealed
from aggregation.sessions.withheld import Withheld


@dataclass(frozen=True, repr=False)
class Taken(Withheld):
    """What became of a batch. Exact: for the control loop and not for anyone to see."""

    # Updates of which at least one part was added.
    accepted: int
    # Refused updates by reason; `window_closed` counts dropped parts of good updates.
    counts: Mapping[Reason, int]


class Session(Withheld):
    """One in-memory aggregation, for one revision."""

    def __init__(
        self,
        *,
        id: str,
        config: ServerConfig,
        keys: SessionKeys,
        windows: Collection[Window],
        helper: Helper | None = None,
    ) -> None:
        raw_session(id)  # refuses what is no id
        self.id = id
        self.accepted = 0
        self._config = config
        self._params = Params.of(config)
        # Nothing once it is complete: the private key goes with it.
        self._way_in: Intake | None = Intake(session=id, config=config, keys=keys, helper=helper)
        self._open: frozenset[Window] = frozenset()
        self._ever_open: frozenset[Window] = frozenset()
        self._held: dict[Window, Held] = {}
        self._counts: Counter[Reason] = Counter()
        self.set_open(windows)

    def set_open(self, windows: Collection[Window]) -> None:
        """The windows that take parts from now on. One that has closed does not open again."""
        self._intake()
        for window in windows:
            self._refuse_other_unit(window)
        closed = self._ever_open - self._open
        self._open = frozenset(windows) - closed
        self._ever_open |= self._open

    def take(self, batch: Sequence[Sealed]) -> Taken:
        """Take updates in, each as (its id, the sealed bytes). No bytes make this raise."""
        counts: Counter[Reason] = Counter()
        checked = self._intake().checked(batch, ever_open=self._ever_open, counts=counts)
        accepted = self._accumulated(checked, counts)
        self.accepted += accepted
        self._counts.update(+counts)
        return Taken(accepted, dict(+counts))

    def take_over(self, state: bytes, *, from_session: str, window: Window) -> None:
        """Add the state of a window that another session handed over, opened by the caller.

        A state is added whole or refused whole; one that comes twice is refused, for the updates
        in it are known by their receipts.
        """
        self._intake()
        self._refuse_other_unit(window)
        if from_session == self.id:
            raise Problem("A session cannot hand over to itself.")
        held = self._held_for(window)
        held.take_over(state, refused_origin=self.id)
        if held.contributions:
            self._held[window] = held

    def contributions(self, window: Window) -> int:
        """Exactly how many devices are in a window's sum: for the control loop only."""
        return self._held[window].contributions if window in self._held else 0

    def is_full(self) -> bool:
        """Whether it should take no more: in one window, or in updates opened altogether."""
        sizes = [held.contributions for held in self._held.values()]
        return max([self._intake().spent, *sizes]) >= self._config.aggregation.max_contributions

    @property
    def counts(self) -> dict[Reason, int]:
        """What was refused or dropped until now: for the control loop only."""
        return dict(self._counts)

    @property
    def windows_held(self) -> tuple[Window, ...]:
        return tuple(sorted(self._held))

    @property
    def windows_open(self) -> tuple[Window, ...]:
        return tuple(self._open)

    @property
    def windows_closed(self) -> tuple[Window, ...]:
        """Held windows that take no more parts: their sums are waited for."""
        return tuple(window for window in self.windows_held if window not in self._open)

    @property
    def windows_small(self) -> tuple[Window, ...]:
        """Held windows that can leave only to somebody who takes them over."""
        return tuple(w for w in self.windows_held if not self._held[w].can_report())

    def drop(self, window: Window) -> None:
        """Forget what is held of a window that has closed: nobody takes it any more."""
        self._intake()
        if window in self._open:
            raise Problem(f"{window.id} is open: what devices send is not dropped.")
        if (held := self._held.pop(window, None)) is not None:
            self._counts[Reason.WINDOW_CLOSED] += held.contributions

    def complete(
        self, *, open_windows: Collection[Window], handing_over: Collection[Window] = ()
    ) -> Completion:
        """Everything that is held, to be stored or handed over. Consumes the session and its key.

        `open_windows` are those that still take partials: of any other, what is held is dropped,
        for it is too late. `handing_over` are those that somebody is there to take over. Refused,
        with nothing consumed, if a small window is not among them.
        """
        self._intake()
        leaving = [window for window in self.windows_held if window in open_windows]
        self._refuse_to_leave(leaving, handing_over)
        held, self._held, self._way_in = self._held, {}, None
        late = held.keys() - set(leaving)
        self._counts[Reason.WINDOW_CLOSED] += sum(held[window].contributions for window in late)
        return Completion(
            big=tuple(Big(w, *held[w].flush()) for w in leaving if held[w].can_report()),
            small=tuple(
                Small(w, *held[w].hand_over()) for w in leaving if not held[w].can_report()
            ),
            accepted=self.accepted,
            counts=+self._counts,
        )

    def _accumulated(self, checked: Checked, counts: Counter[Reason]) -> int:
        """Add the good updates' parts of open windows, drop the others; how many updates count."""
        counted = np.zeros(len(checked.ids), dtype=bool)
        for window, parts, numbers in checked.by_window():
            among = checked.good[numbers]
            if not among.any():
                continue
            if window not in self._open:
                counts[Reason.WINDOW_CLOSED] += int(among.sum())
                continue
            ids = [checked.ids[number] for number in numbers.tolist()]
            self._held[window] = held = self._held_for(window)
            added = held.accumulate(parts, among=among, origin=self.id, ids=ids)
            counted[numbers[added]] = True
        return int(counted.sum())

    def _held_for(self, window: Window) -> Held:
        return self._held.get(window) or Held(self._params)

    def _refuse_to_leave(self, leaving: list[Window], handing_over: Collection[Window]) -> None:
        if not all(held.is_consistent() for held in self._held.values()):
            raise Problem(
                "The sums of this session and their receipts do not belong together.",
                hint="End it as dead: its devices find no receipt and send again.",
            )
        small = [w for w in leaving if not self._held[w].can_report() and w not in handing_over]
        if small:
            raise Problem(
                f"Too few devices are in {', '.join(w.id for w in small)} for a partial.",
                hint="Name a successor that takes these windows over, or wait for more updates.",
            )

    def _refuse_other_unit(self, window: Window) -> None:
        if window.unit is not self._config.window_unit:
            raise Problem(
                f"{window.id} is a {window.unit} window; this task has {self._config.window_unit}s."
            )

    def _intake(self) -> Intake:
        if self._way_in is None:
            raise Problem("This session is complete: it takes nothing more, and has nothing left.")
        return self._way_in

    def __repr__(self) -> str:
        return f"Session({self.id}, contents withheld)"
