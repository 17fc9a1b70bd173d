"""The four mechanisms: public parameters in, encode and decode out, each with its argument."""

from collections.abc import Sequence

from aggregation.errors import Problem
from aggregation.mechanisms import budget_split, group_scaling, joint_clipping, rotated
from aggregation.mechanisms.interface import Arithmetic, Finding
from aggregation.mechanisms.noise_law import Noise
from aggregation.protocol.anonymization import (
    BudgetSplit,
    GroupScaling,
    JointClipping,
    Mechanism,
    Rotated,
)
from aggregation.protocol.client_task import Key
from aggregation.protocol.ranks import Cells, DomainOf

__all__ = ["Arithmetic", "Finding", "Noise", "build", "build_for", "problems"]


def problems(
    mechanism: Mechanism, keys: Sequence[Key], metrics: Sequence[str], domain_of: DomainOf
) -> list[Finding]:
    """All that keeps these parameters from being used with these keys and metrics."""
    return _problems(mechanism, Cells.of(keys, domain_of), metrics)


def build(
    mechanism: Mechanism, keys: Sequence[Key], metrics: Sequence[str], domain_of: DomainOf
) -> Arithmetic:
    """The arrays of valid parameters; what `problems` finds fault with is refused."""
    return build_for(mechanism, Cells.of(keys, domain_of), metrics)


def build_for(mechanism: Mechanism, cells: Cells, metrics: Sequence[str]) -> Arithmetic:
    found = _problems(mechanism, cells, metrics)
    if found:
        raise Problem(found[0].message, hint=found[0].hint)
    match mechanism:
        case JointClipping():
            return joint_clipping.build(mechanism, cells, metrics)
        case BudgetSplit():
            return budget_split.build(mechanism, cells, metrics)
        case GroupScaling():
            return group_scaling.build(mechanism, cells, metrics)
        case Rotated():
            return rotated.build(mechanism, cells, metrics)


def _problems(mechanism: Mechanism, cells: Cells, metrics: Sequence[str]) -> list[Finding]:
    match mechanism:
        case JointClipping():
            return joint_clipping.problems(mechanism, cells, metrics)
        case BudgetSplit():
            return budget_split.problems(mechanism, cells, metrics)
        case GroupScaling():
            return group_scaling.problems(mechanism, cells, metrics)
        case Rotated():
            return rotated.problems(mechanism, cells, metrics)
