"""Compile a spec: SQL in, a provably bounded plan out, or every reason why not.

The compiler decides on bound trees with lineage through scopes (`bind`, `lineage`), never on
text. What it ships is written anew from those trees (`render`), so nothing an analyst typed
reaches a device but names of columns and literals. Whatever goes wrong inside, even a fault of
our own, is a refusal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import msgspec
from msgspec import UNSET

from aggregation.compiler import backstops, bounds
from aggregation.compiler.analysis import Analyst, streams_read
from aggregation.compiler.assemble import device_query, keys_of, reads_of, unused_fields
from aggregation.compiler.derive import derive
from aggregation.compiler.diagnostics import Diagnostic, Finding
from aggregation.compiler.explain import Explanation, explain
from aggregation.compiler.guard import fields, plan, step, warnings
from aggregation.compiler.guard.cost import expanded_size
from aggregation.compiler.guard.output import ClientQuery
from aggregation.compiler.guard.plan import Plan, PlanRule
from aggregation.compiler.guard.server import ServerQuery
from aggregation.compiler.guard.warnings import Reviewed
from aggregation.compiler.prepare import prepared_columns, table_columns
from aggregation.compiler.render import render
from aggregation.compiler.rules import Verdicts
from aggregation.compiler.split import split
from aggregation.compiler.tree import WINDOW, Block, Select
from aggregation.compiler.walks import selects
from aggregation.protocol import device_facts
from aggregation.protocol.anonymization import ClipUncertainty
from aggregation.protocol.client_task import ClientTask, Eligibility, Schedule, digest_of_name
from aggregation.protocol.server_config import Aggregation, ServerConfig
from aggregation.protocol.spec import Spec, decimal_text, with_decimals
from aggregation.protocol.streams import Catalog


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted spec: what devices run, what the server does, and the account of both."""

    client_task: ClientTask
    server_config: ServerConfig
    explanation: Explanation
    # Warnings only.
    diagnostics: tuple[Diagnostic, ...]


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """Every reason at once, warnings among them, in reading order."""

    diagnostics: tuple[Diagnostic, ...]


def compile_spec(
    spec: Spec,
    streams: Catalog,
    *,
    populations: frozenset[str] | None = None,
    without: frozenset[str] = frozenset(),
) -> Compiled | Refused:
    """Compile, or refuse. Where it is not said which populations there are, any name will do.

    `without` leaves rules out: it is there to test that each is needed.
    """
    verdicts = Verdicts(without)
    try:
        return _Compilation(spec, streams, populations, verdicts).run()
    except Exception:  # a fault of ours must never let a spec through, nor show its insides
        message = "The compiler could not finish with this spec, so it is refused."
        verdicts.give("internal", "spec", [Finding(message, "Simplify the queries.")])
        return Refused(diagnostics=verdicts.diagnostics())


@dataclass
class _Compilation:
    spec: Spec
    catalog: Catalog
    populations: frozenset[str] | None
    verdicts: Verdicts
    analyst: Analyst = field(init=False)

    def __post_init__(self) -> None:
        self.analyst = Analyst(self.catalog, self.spec.streams, self.verdicts)

    def run(self) -> Compiled | Refused:
        self._judge_fields()
        eligibility = self._eligibility()
        queries = self._queries()
        self.analyst.read_by_sqlite()
        if queries is None or self._sql_refused():
            return self._refused()
        client, server = queries
        planned = self._plan(server)
        if not backstops.whole(planned, server):
            return self._refused()
        device = device_query(client.main, server, planned.derivation.coordinates)
        sql = render(device)
        self._prepare(sql, device, planned)
        made = self._made(planned, server)
        self._warn(client, server, planned)
        if made is None or self.verdicts.refused:
            return self._refused()
        task = self._client_task(sql, device, made, eligibility)
        if self.spec.step is not UNSET:
            stepped = step.Stepped(planned, self.spec.step)
            task = msgspec.structs.replace(task, step=stepped.step)
        config = self._server_config(task, made)
        if not (backstops.lasting(task) and backstops.lasting(config)):
            return self._refused()
        return Compiled(
            client_task=task,
            server_config=config,
            explanation=explain(task, config),
            diagnostics=self.verdicts.diagnostics(),
        )

    def _refused(self) -> Refused:
        """A refusal always has a reason: rules that were left out must not let a spec through."""
        if not self.verdicts.refused:
            message = "The compiler could not finish with this spec, so it is refused."
            self.verdicts.give("internal", "spec", [Finding(message, "Simplify the queries.")])
        return Refused(diagnostics=self.verdicts.diagnostics())

    def _judge_fields(self) -> None:
        subject = fields.Subject(self.spec, self.catalog, self.populations)
        for rule in fields.RULES:
            self.verdicts.give(rule.__name__, "spec", rule(subject))

    @property
    def _part(self) -> str:
        return "sql" if self.spec.sql is not None else "server_sql"

    def _sql_refused(self) -> bool:
        return self.verdicts.refused_in(*self.verdicts.texts)

    def _queries(self) -> tuple[ClientQuery, ServerQuery] | None:
        spec, analyst = self.spec, self.analyst
        if spec.sql is not None:
            checked = analyst.read("sql", spec.sql)
            halves = split(analyst, checked) if checked else None
            if checked is None or halves is None:
                return None
            return halves.client, analyst.server(checked, halves.server, halves.client)
        client = (
            analyst.read("client_sql", spec.client_sql) if spec.client_sql is not None else None
        )
        server = (
            analyst.read("server_sql", spec.server_sql) if spec.server_sql is not None else None
        )
        bound = analyst.client(client) if client else None
        if bound is None or server is None:
            return None
        return bound, analyst.server(server, server.statement.root, bound)

    def _eligibility(self) -> str | None:
        text = self.spec.eligibility.sql
        checked = self.analyst.read("eligibility.sql", text) if text is not None else None
        main: Block | None = self.analyst.eligibility(checked) if checked else None
        if not isinstance(main, Select) or self._sql_refused():
            return None
        sql = render(main)
        columns = [(c, "INTEGER") for c in device_facts.COLUMNS]
        self._run_dry("eligibility.sql", sql, {device_facts.TABLE: columns}, 1)
        return sql

    def _plan(self, server: ServerQuery) -> Plan:
        """What the queries come to."""
        keys = keys_of(server, self.catalog)
        taken = [*(k.name for k in keys), WINDOW]
        return Plan(self.spec, self.catalog, keys, derive(server.measures(), taken))

    def _made(self, planned: Plan, server: ServerQuery) -> Plan | None:
        """What leaves the device, judged; nothing where a step makes nothing of it."""
        if self.spec.step is UNSET:
            self._judge_plan(planned, server, plan.RULES)
            return planned
        self._judge_plan(planned, server, (plan.cells, plan.columns))
        stepped = step.Stepped(planned, self.spec.step)
        for rule in step.RULES:
            self.verdicts.give(rule.__name__, "spec", rule(stepped))
        if stepped.made is not None:
            self._judge_plan(stepped.made, server, plan.RULES)
        return stepped.made

    def _judge_plan(self, planned: Plan, server: ServerQuery, rules: Iterable[PlanRule]) -> None:
        for rule in rules:
            findings = [_placed(f, server) for f in rule(planned)]
            self.verdicts.give(rule.__name__, self._part, findings)

    def _prepare(self, sql: str, device: Select, planned: Plan) -> None:
        if expanded_size(device) > 2 * bounds.MAX_EXPANDED:
            raise ValueError("SQLite cannot be stopped while it prepares; this must not reach it.")
        tables = {
            name: table_columns(stream, reads)
            for name, reads in reads_of(device).items()
            if (stream := self.catalog.stream(name)) is not None
        }
        width = len(planned.keys) + 1 + len(planned.metrics)
        part = "sql" if self.spec.sql is not None else "client_sql"
        self._run_dry(part, sql, tables, width)

    def _run_dry(
        self, part: str, sql: str, tables: dict[str, list[tuple[str, str]]], width: int
    ) -> None:
        if len(sql) > bounds.MAX_SQL_CHARACTERS:
            message = f"Written out for a device, the query has {len(sql):,} characters; at most "
            finding = Finding(f"{message}{bounds.MAX_SQL_CHARACTERS:,} fit.", "Shorten it.")
            self.verdicts.give("too_large", part, [finding])
            return
        answer = prepared_columns(sql, tables)
        if isinstance(answer, str) or len(answer) != width:
            reason = f": {answer[:120]}" if isinstance(answer, str) else ""
            message = f"SQLite on a device would not run this query{reason}."
            hint = "Simplify the query: fewer arguments, less nesting, steps named with WITH."
            self.verdicts.give("prepare", part, [Finding(message, hint)])

    def _warn(self, client: ClientQuery, server: ServerQuery, planned: Plan) -> None:
        unused = unused_fields(server, planned.derivation.coordinates)
        reviewed = Reviewed(
            plan=planned,
            selects=tuple(selects(client.main)),
            unused=tuple((f, client.at(f)) for f in unused),
            domain_of=self.catalog.domain,
            streams_read=streams_read(client.main),
            at=server.main.at,
        )
        client_part = "sql" if self.spec.sql is not None else "client_sql"
        for rule in warnings.CLIENT_RULES:
            self.verdicts.give(rule.__name__, client_part, rule(reviewed))
        for rule in warnings.SERVER_RULES:
            self.verdicts.give(rule.__name__, self._part, rule(reviewed))

    def _client_task(
        self, sql: str, device: Select, planned: Plan, eligibility: str | None
    ) -> ClientTask:
        spec = self.spec
        declared = [s for s in self.catalog if s.name in spec.streams]
        return ClientTask(
            task=digest_of_name(spec.name),
            reads=reads_of(device),
            streams={s.name: s.sha256 for s in sorted(declared, key=lambda s: s.name)},
            populations=tuple(sorted(spec.populations)),
            window_unit=spec.window.unit,
            sql=sql,
            keys=planned.keys,
            metrics=planned.metrics,
            epsilon=decimal_text(spec.anonymization.epsilon),
            mechanism=spec.anonymization.mechanism,
            max_rows=spec.aggregation.max_rows,
            eligibility=Eligibility(
                min_separation_windows=spec.eligibility.min_separation_windows,
                require_events=spec.eligibility.require_events,
                sql=eligibility,
            ),
            schedule=Schedule(
                max_runs_per_day=spec.schedule.max_runs_per_day,
                conditions=tuple(sorted(spec.schedule.conditions)),
            ),
        )

    def _server_config(self, task: ClientTask, planned: Plan) -> ServerConfig:
        spec = self.spec
        return ServerConfig(
            client_task=task.sha256,
            streams=tuple(task.streams),
            window_unit=task.window_unit,
            grace_hours=spec.window.grace_hours,
            keys=task.keys,
            metrics=task.metrics,
            hidden=tuple(c.name for c in planned.derivation.coordinates if c.hidden),
            derived=tuple(planned.derivation.derived),
            max_rows=task.max_rows,
            aggregation=Aggregation(
                min_contributions=spec.aggregation.min_contributions,
                max_contributions=spec.aggregation.max_contributions,
                max_session_minutes=spec.aggregation.max_session_minutes,
            ),
            epsilon=task.epsilon,
            mechanism=task.mechanism,
            clip_uncertainty=_one_spelling(spec.anonymization.clip_uncertainty),
            suppression=spec.anonymization.suppression,
            audience=spec.publish.audience,
            publish_columns=spec.publish.columns,
            post_processing=spec.post_processing,
        )


def _one_spelling(given: ClipUncertainty | None) -> ClipUncertainty | None:
    """0.5 and 0.50 are one number, and must be one config."""
    return msgspec.convert(with_decimals(given, decimal_text), ClipUncertainty | None)


def _placed(finding: Finding, server: ServerQuery) -> Finding:
    """Findings about the result as a whole stand where the server query does."""
    return finding if finding.part else replace(finding, at=server.main.at)
