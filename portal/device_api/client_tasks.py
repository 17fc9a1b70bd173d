"""Client tasks by their hash: read once from the database, then kept, since they never change."""

import hashlib
from collections import OrderedDict

from portal.device_api.records import Records
from portal.tasks.models import Revision

# A client task has a few kilobytes, and few run at a time.
MOST_KEPT = 256


class ClientTasks:
    def __init__(self, records: Records) -> None:
        self._records = records
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    def kept(self, sha256: str) -> bytes | None:
        return self._kept.get(sha256)

    async def read(self, sha256: str) -> bytes | None:
        """Its canonical bytes, or nothing if no approved revision has it."""
        body = await self._records.ask(_approved, sha256)
        if body is not None:
            self._kept[sha256] = body
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return body


def _approved(sha256: str) -> bytes | None:
    rows = Revision.objects.filter(client_task_sha256=sha256, state=Revision.State.APPROVED)
    text = rows.values_list("client_task_json", flat=True).first()
    # A row that was tampered with is no client task; a device would refuse it as well.
    body = (text or "").encode()
    return body if hashlib.sha256(body).hexdigest() == sha256 else None
