"""Verification: what a phone believes before it runs anything for a server it does not trust.

Whoever controls the server, its database or the network, but neither the approval key nor the
workers' key, can make a phone run nothing that a second person did not approve, nothing that began
before the approval, and can make it seal to no one but a session of a real worker. What a server
says at check-in and after must be the same as what was signed.

Each refusal is one sentence for the phone's owner.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from aggregation.errors import Problem
from aggregation.protocol.approval import Approval, is_signed, key_id
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.messages import Assigned, Offer
from aggregation.protocol.session_key import is_session_key
from aggregation.protocol.windows import Window
from devices_sim.device import consent
from devices_sim.device.refusal import Refused
from devices_sim.device.state import State

EVERYONE = "all"


@dataclass(frozen=True)
class Pins:
    """The two public keys a phone is delivered with: 32 raw bytes each.

    Keys are rotated, and phones are updated when they are: others that were announced, or that
    have signed what still runs, count as much.
    """

    approval: bytes
    worker: bytes
    other_approval: tuple[bytes, ...] = ()
    other_worker: tuple[bytes, ...] = ()

    @property
    def approvals(self) -> tuple[bytes, ...]:
        return self.approval, *self.other_approval

    @property
    def workers(self) -> tuple[bytes, ...]:
        return self.worker, *self.other_worker

    @classmethod
    def of(
        cls, *, approval: str, worker: str, also: Mapping[str, Sequence[str]] | None = None
    ) -> Pins:
        """From hex, as `manage.py device_keys` prints them."""
        others = also or {}
        try:
            pins = cls(
                bytes.fromhex(approval),
                bytes.fromhex(worker),
                tuple(map(bytes.fromhex, others.get("approval", ()))),
                tuple(map(bytes.fromhex, others.get("worker", ()))),
            )
            for key in (*pins.approvals, *pins.workers):
                _public(key)
        except ValueError:
            raise Problem(
                "These are not the two public keys that a phone pins.",
                hint="Each has 64 hex digits; `manage.py device_keys` prints both.",
            ) from None
        return pins


def verify_assignment(assigned: Assigned, offer: Offer, pins: Pins) -> None:
    """The approval and the session's key, before anything is downloaded."""
    approval = assigned.approval
    if (assigned.task, assigned.client_task) != (offer.task, offer.client_task):
        raise Refused("The server assigned another task than this phone asked for.")
    if approval.client_task != assigned.client_task:
        raise Refused("Its approval is for another client task.")
    if approval.author == approval.approver:
        raise Refused("Its author approved it alone; a second person has to.")
    named = next((key for key in pins.approvals if assigned.key_id == _key_id(key)), None)
    if named is None:
        raise Refused("It was approved with a key that this phone does not know.")
    if not _is_approved(approval, assigned.signature, named):
        raise Refused("The signature of its approval does not hold.")
    if not any(_vouches(key, assigned) for key in pins.workers):
        raise Refused("No known worker vouches for the key it would be sealed to.")


def _vouches(worker: bytes, assigned: Assigned) -> bool:
    return _is_session(
        worker,
        assigned.session_signature,
        assigned.session,
        assigned.client_task,
        assigned.public_key,
    )


def verify_task(task: ClientTask, offer: Offer, population: str, state: State) -> None:
    """What was signed is what the server said at check-in, and is meant for this phone."""
    if not {population, EVERYONE} & set(task.populations):
        raise Refused(f"It is for {', '.join(task.populations)[:100]}, not for {population}.")
    if task.window_unit is not offer.window_unit:
        raise Refused(f"It was offered by the {offer.window_unit}, but has {task.window_unit}s.")
    if task.eligibility != offer.eligibility:
        raise Refused("Its eligibility criteria at check-in were not those that were approved.")
    if task.schedule != offer.schedule:
        raise Refused("Its schedule at check-in was not the one that was approved.")
    if stream := consent.missing(state, task.reads):
        raise Refused(f"You have not agreed to {stream}.")


def windows_refused(
    windows: Iterable[Window], approval: Approval, task: ClientTask, state: State
) -> dict[Window, str]:
    """Those windows that began before their time, and why each is refused."""
    approved, agreed = _moment(approval), consent.since(state, task.reads)
    refused = {}
    for window in windows:
        if window.span[0] < approved:
            refused[window] = f"{window.id} began before the task was approved."
        elif window.span[0] < agreed:
            refused[window] = f"{window.id} began before you agreed to what it reads."
    return refused


@lru_cache(maxsize=4096)
def _moment(approval: Approval) -> float:
    try:
        return approval.moment.timestamp()
    except (ValueError, OverflowError):
        raise Refused("Its approval does not say when it was given.") from None


# Pure functions of public statements: what many phones are told is checked once.
@lru_cache(maxsize=4096)
def _is_approved(approval: Approval, signature: str, key: bytes) -> bool:
    return is_signed(approval, bytes.fromhex(signature), _public(key))


@lru_cache(maxsize=4096)
def _is_session(
    key: bytes, signature: str, session: str, client_task: str, public_key: str
) -> bool:
    return is_session_key(
        _public(key),
        bytes.fromhex(signature),
        session=session,
        client_task=client_task,
        public=bytes.fromhex(public_key),
    )


@lru_cache(maxsize=64)
def _public(key: bytes) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(key)


@lru_cache(maxsize=64)
def _key_id(key: bytes) -> str:
    return key_id(_public(key))
