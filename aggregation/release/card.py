"""The guarantee card: what a release guarantees, to whom, under which assumptions, and what not.

It follows the order of the paper's appendix (the setting, the definition, the accounting, what
can be checked), in our words, and adds what a reader of ε alone would get wrong.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Final

import msgspec

from aggregation.mechanisms import Arithmetic
from aggregation.protocol.approval import Approval
from aggregation.protocol.server_config import ServerConfig
from aggregation.protocol.spec import decimal_text
from aggregation.protocol.windows import Window
from aggregation.release.intervals import meaning
from aggregation.release.noised import Noised
from aggregation.release.recipe import Recipe


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of the card."""

    topic: str
    text: str


class GuaranteeCard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Machine-readable; `statements` says the same to people."""

    version: int = 1
    task: str
    streams: tuple[str, ...]
    # The window's id with its first moment and its end, UTC.
    window: str
    window_unit: str
    window_start: str
    window_end: str
    released_at: str
    audience: str
    # Decimal texts. Pure ε: there is no δ.
    epsilon: str
    delta: str = "0"
    adjacency: str = "add or remove one device's contribution to the window"
    unit: str
    # The same guarantee where one device's data is replaced by other data.
    epsilon_replace_one: str
    mechanism: str
    noise: str
    # Most that Σ|q| of one device can be, in grid units; the noise has scale this / ε.
    sensitivity: int
    # Declared cells and metrics, every one of them noised.
    cells: int
    metrics: tuple[str, ...]
    spec: str
    client_task: str
    server_config: str
    # Hash of the noised numbers that all files are made of.
    noised: str
    approval: Approval
    approval_signature: str
    approval_key: str
    # Version of the program.
    software: str
    statements: tuple[Statement, ...]


def card_of(
    *,
    task: str,
    window: Window,
    recipe: Recipe,
    noised: Noised,
    approval: Approval,
    approval_signature: bytes,
    approval_key: str,
    released_at: datetime,
    software: str,
) -> GuaranteeCard:
    """The card of one release."""
    config, twice = recipe.config, decimal_text(2 * Decimal(recipe.config.epsilon))
    return GuaranteeCard(
        task=task,
        streams=config.streams,
        window=window.id,
        window_unit=str(window.unit),
        window_start=_moment(window.start),
        window_end=_moment(window.end),
        released_at=_moment(released_at),
        audience=config.audience,
        epsilon=config.epsilon,
        unit=f"one device in one {window.unit}",
        epsilon_replace_one=twice,
        mechanism=_kind(config),
        noise=f"discrete Laplace of scale {recipe.arithmetic.sensitivity}/{config.epsilon}, exact",
        sensitivity=recipe.arithmetic.sensitivity,
        cells=recipe.cells.size,
        metrics=config.metrics,
        spec=approval.spec,
        client_task=config.client_task,
        server_config=config.sha256,
        noised=noised.sha256,
        approval=approval,
        approval_signature=approval_signature.hex(),
        approval_key=approval_key,
        software=software,
        statements=tuple(_statements(config, recipe.arithmetic, window, twice)),
    )


def _statements(
    config: ServerConfig, arithmetic: Arithmetic, window: Window, twice: str
) -> list[Statement]:
    unit, epsilon, streams = window.unit, config.epsilon, " and ".join(config.streams)
    lines = {
        "Setting": "Central differential privacy: the operator of this server is trusted to run "
        "this program as it is. Updates are sealed on their way, are held in memory only, and "
        "sums at rest are encrypted and erased.",
        "What is covered": "Every accepted update part of every device that contributed to this "
        f"task and {unit}. Whether a device is asked, and that it answers, is seen by the server.",
        "What is released": f"Noised sums of {', '.join(config.metrics)} for every declared cell, "
        "once and for good, and what is computed from them alone: sums over keys, averages and "
        "ratios, intervals, suppression.",
        "Unit of privacy": f"One device in one {unit}: all that it contributed to it.",
        "Neighbours": "Two sets of contributions that differ by one device's, added or removed. "
        f"If instead one device's data is replaced by other data, the guarantee is ε = {twice}.",
        "Statement": f"ε = {epsilon}, pure (δ = 0), per device and {unit}: for every possible "
        f"release, its probability with and without the device differ by a factor of at most "
        f"e^{epsilon}.",
        "Accounting": "One application of the discrete Laplace mechanism: each device's update is "
        f"bounded to Σ|q| ≤ {arithmetic.sensitivity:,} grid units, on the device and again here, "
        "and each coordinate gets its own draw. Other tasks on the same stream add up; the ledger "
        "keeps their sum per stream and civil week below a cap.",
        **_LIMITS,
        "Per stream": f"This ε is charged to {streams}. Other streams, other weeks and what "
        "others know about a person are not in it.",
        "Suppression": "Rows whose noise is more than "
        f"{100 * config.suppression.max_relative_noise:g} % of a noised value are not shown. "
        "Suppression reads noised values only.",
        "Intervals": meaning(config.clip_uncertainty)
        + " They are at 95 %, for one number at a time.",
        "What can be checked": "The hashes, both signatures, and that the files are those signed "
        "for. The program is open; that it was this program that ran is the operator's word.",
    }
    return [Statement(topic, text) for topic, text in lines.items()]


_LIMITS: Final = {
    "A device, not a person": "Someone with two phones has two contributions, and is protected "
    "by twice the ε.",
    "The device's own clock": "Which window an event belongs to is decided by the device's clock.",
    "Accepted parts": "The guarantee is about update parts that were accepted. Someone who runs "
    "many false devices can add as many contributions, each of them bounded.",
    "Parameters": "Scales, bounds, bases and corrections come from proxy or public data and are "
    "part of the approved task. How they were made lies outside this ε.",
    "Randomness": "Noise is drawn by exact integer arithmetic from AES-256 in counter mode, keyed "
    "by the operating system: it is private against whoever cannot break that cipher.",
}


def _kind(config: ServerConfig) -> str:
    return str(type(config.mechanism).__struct_config__.tag)


def _moment(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
