"""Sessions, what they hold and hand over, and what they leave: partials and receipts."""

from portal.collection.models.active import ActiveDevices
from portal.collection.models.fleet import FleetCount, Reach
from portal.collection.models.handover import HandOver, Hold
from portal.collection.models.partial import Partial, Receipts
from portal.collection.models.session import Session

__all__ = [
    "ActiveDevices",
    "FleetCount",
    "HandOver",
    "Hold",
    "Partial",
    "Reach",
    "Receipts",
    "Session",
]
