"""A revision's frozen documents, read back for people and programs."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec

from aggregation.compiler.explain import Explanation, explain
from aggregation.protocol.client_task import ClientTask
from aggregation.protocol.server_config import ServerConfig
from portal.tasks.models import Revision


@dataclass(frozen=True)
class Documents:
    """Read from what was frozen, never from the draft: it says what will happen."""

    revision: Revision

    @cached_property
    def spec(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.revision.spec_json)
        return found

    @cached_property
    def client_task(self) -> ClientTask:
        return msgspec.json.decode(self.revision.client_task_json, type=ClientTask)

    @cached_property
    def server_config(self) -> ServerConfig:
        return msgspec.json.decode(self.revision.server_config_json, type=ServerConfig)

    @cached_property
    def explanation(self) -> Explanation:
        return explain(self.client_task, self.server_config)


def whole_revision(revision: Revision) -> Revision:
    """The revision with its documents beside it, for the API."""
    documents = Documents(revision)
    revision.spec = documents.spec  # type: ignore[attr-defined]
    revision.client_task = json.loads(revision.client_task_json)  # type: ignore[attr-defined]
    revision.server_config = json.loads(revision.server_config_json)  # type: ignore[attr-defined]
    revision.explain = documents.explanation.text  # type: ignore[attr-defined]
    return revision
