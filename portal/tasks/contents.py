"""What a revision holds: a spec's text compiled into everything that is hashed and frozen."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import msgspec

from aggregation.compiler.compile import Compiled, Refused, compile_spec
from aggregation.compiler.guard.unseen import in_document
from aggregation.errors import Problem
from aggregation.protocol.spec import Spec
from aggregation.protocol.spec_reading import read_spec
from portal.ledger.amounts import hundredths_of
from portal.problems import Conflict
from portal.streams.selectors import installed_catalog
from portal.tasks.models import Revision
from portal.tasks.populations import known_populations


@dataclass(frozen=True)
class Content:
    """The frozen fields of a revision that come from its text alone."""

    spec_text: str
    spec_json: str
    spec_sha256: str
    client_task_json: str
    client_task_sha256: str
    server_config_json: str
    server_config_sha256: str
    content_sha256: str
    epsilon: int
    window_unit: str
    streams: list[str]
    warnings: list[dict[str, Any]]

    def fields(self) -> dict[str, Any]:
        return asdict(self)


def content_of(text: str, *, name: str) -> Content:
    """Read and compile a task's text. Raises Problem with the first reason, and how many more."""
    spec = read_spec(text)
    if spec.name != name:
        raise Problem(
            f"The spec names the task {spec.name!r}, and this is the task {name!r}.",
            hint=f"Write `name: {name}`, or duplicate the task under the other name.",
        )
    compiled = compile_spec(spec, installed_catalog(), populations=known_populations())
    if isinstance(compiled, Refused):
        raise _refusal(compiled)
    if unseen := in_document(text):
        raise _refusal(Refused(diagnostics=unseen))
    return _content(text, spec, compiled)


def verify_content(revision: Revision) -> None:
    """Hash the revision's content again and compile its text again: both must give what it says.

    A difference means that the row was changed behind the database's rules, or that the streams
    or the compiler are not what they were when the revision was submitted.
    """
    name = revision.task.name
    for what in ("spec", "client_task", "server_config"):
        text, named = getattr(revision, f"{what}_json"), getattr(revision, f"{what}_sha256")
        if _sha256(text) != named:
            raise Conflict(
                f"The {what.replace('_', ' ')} of {name} revision {revision.number} does not have "
                "the hash it was submitted with.",
                hint="Tell an operator, and submit the task again.",
            )
    stored = {field: getattr(revision, field) for field in _COMPARED}
    fresh = content_of(revision.spec_text, name=name).fields()
    if stored != {field: fresh[field] for field in _COMPARED}:
        raise Conflict(
            f"{name} revision {revision.number} compiles differently from when it was submitted: "
            "its streams or the compiler have changed.",
            hint="Submit the task again, and review what it says now.",
        )


_COMPARED = (
    "spec_json", "client_task_json", "server_config_json", "content_sha256",
    "epsilon", "window_unit", "streams",
)  # fmt: skip


def _content(text: str, spec: Spec, compiled: Compiled) -> Content:
    task, config = compiled.client_task, compiled.server_config
    hashes = (spec.sha256, task.sha256, config.sha256)
    return Content(
        spec_text=text,
        spec_json=spec.canonical().decode(),
        spec_sha256=spec.sha256,
        client_task_json=task.canonical().decode(),
        client_task_sha256=task.sha256,
        server_config_json=config.canonical().decode(),
        server_config_sha256=config.sha256,
        content_sha256=_sha256("\n".join(hashes)),
        epsilon=hundredths_of(config.epsilon),
        window_unit=str(config.window_unit),
        streams=list(config.streams),
        warnings=msgspec.to_builtins(compiled.diagnostics),
    )


def _refusal(refused: Refused) -> Problem:
    reasons = [d for d in refused.diagnostics if d.severity == "refusal"]
    first = reasons[0]
    place = f"{first.part} line {first.line}" if first.line else first.part
    more = f" {len(reasons) - 1} more reasons." if len(reasons) > 2 else ""
    more = " 1 more reason." if len(reasons) == 2 else more
    return Problem(f"The spec is refused ({place}): {first.message}{more}", hint=first.hint)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
