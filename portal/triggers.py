"""Rules the database itself keeps, written for SQLite and PostgreSQL, for use in migrations."""

from collections.abc import Callable

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState

# The statements that make a rule, for sqlite or postgresql.
Statements = Callable[[str], list[str]]


class Rule(Operation):
    """A step of a migration that models know nothing of, and that needs none of them: RunPython
    would make all models anew for each rule, most of what a migration takes."""

    reduces_to_sql = True
    reversible = True

    def __init__(self, name: str, statements: Statements) -> None:
        self.name, self.statements = name, statements

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Nothing that models know changes."""

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        for statement in self.statements(schema_editor.connection.vendor):
            schema_editor.execute(statement, params=None)

    def database_backwards(self, *_: object) -> None:
        """A rule goes with its table."""

    def describe(self) -> str:
        return f"Rule {self.name}"


def append_only(table: str, *, unique: tuple[str, ...] = ("id",)) -> Rule:
    """Rows of the table can be added, never changed, replaced or removed, whoever asks.

    `unique` names every column that has a unique index.
    """
    sentence = f"{table} is append-only: its rows cannot be changed or removed."

    def statements(vendor: str) -> list[str]:
        maker = _on_postgresql if vendor == "postgresql" else _on_sqlite
        return maker(table, unique, sentence)

    return Rule(f"{table}_append_only", statements)


def refuse(
    name: str, *, table: str, event: str, when: str = "TRUE", sentence: str = "", lock: str = ""
) -> Rule:
    """Refuse an INSERT, UPDATE or DELETE of each row for which the condition holds.

    The condition is SQL over OLD and NEW that both databases understand; `IS DISTINCT FROM`
    is written so for both. The sentence has no quotes and no per cent signs. A condition that
    looks at other rows names them as `lock`: they are locked before it is asked, so that what it
    found still holds when the transaction commits (SQLite's writers wait for each other anyway).
    """
    spoken = sentence or name.replace("_", " ").capitalize() + "."

    def statements(vendor: str) -> list[str]:
        if vendor == "postgresql":
            return _refuse_on_postgresql(name, table, event, when, sentence=spoken, lock=lock)
        return _refuse_on_sqlite(name, table, event, when, spoken)

    return Rule(name, statements)


def dropped(name: str, *, table: str) -> Rule:
    """Take a rule back, so that another of its name can take its place."""

    def statements(vendor: str) -> list[str]:
        if vendor != "postgresql":
            return [f'DROP TRIGGER "{name}"']
        return [f'DROP TRIGGER "{name}" ON "{table}"', f'DROP FUNCTION "{name}"()']

    return Rule(f"{name}_dropped", statements)


def afterwards(name: str, *, table: str, event: str, lock: str, statement: str) -> Rule:
    """Run a statement after each row of an INSERT or UPDATE, with the rows `lock` names locked.

    PostgreSQL reads anew for each statement of a function, so what other transactions committed
    before the lock was granted is seen; SQLite's writers wait for each other anyway.
    """

    trigger = f'CREATE TRIGGER "{name}" AFTER {event} ON "{table}" FOR EACH ROW'

    def statements(vendor: str) -> list[str]:
        if vendor != "postgresql":
            return [f"{trigger} BEGIN {statement}; END"]
        body = f"BEGIN PERFORM 1 FROM {lock} FOR NO KEY UPDATE; {statement}; RETURN NULL; END"
        return [_function(name, body), f'{trigger} EXECUTE FUNCTION "{name}"()']

    return Rule(name, statements)


def changes(*columns: str) -> str:
    """The condition that an UPDATE changes one of the columns."""
    return " OR ".join(f'OLD."{column}" IS DISTINCT FROM NEW."{column}"' for column in columns)


def _refuse_on_sqlite(name: str, table: str, event: str, when: str, sentence: str) -> list[str]:
    condition = when.replace("IS NOT DISTINCT FROM", "IS").replace("IS DISTINCT FROM", "IS NOT")
    return [
        f'CREATE TRIGGER "{name}" BEFORE {event} ON "{table}" FOR EACH ROW WHEN {condition} '
        f"BEGIN SELECT RAISE(ABORT, '{sentence}'); END"
    ]


def _refuse_on_postgresql(
    name: str, table: str, event: str, when: str, *, sentence: str, lock: str
) -> list[str]:
    row = "OLD" if event == "DELETE" else "NEW"
    locking = f"PERFORM 1 FROM {lock} FOR NO KEY UPDATE; " if lock else ""
    body = (
        f"BEGIN {locking}IF {when} THEN "
        f"RAISE EXCEPTION '{sentence}' USING ERRCODE = 'check_violation'; "
        f"END IF; RETURN {row}; END"
    )
    return [
        _function(name, body),
        f'CREATE TRIGGER "{name}" BEFORE {event} ON "{table}" '
        f'FOR EACH ROW EXECUTE FUNCTION "{name}"()',
    ]


def never_emptied(table: str) -> Rule:
    """PostgreSQL's TRUNCATE fires no row triggers: refuse it as well."""
    name, sentence = f"{table}_no_truncate", f"{table} cannot be emptied."

    def statements(vendor: str) -> list[str]:
        if vendor != "postgresql":
            return []
        return [
            _function(name, f"BEGIN RAISE EXCEPTION '{sentence}'; END"),
            f'CREATE TRIGGER "{name}" BEFORE TRUNCATE ON "{table}" '
            f'FOR EACH STATEMENT EXECUTE FUNCTION "{name}"()',
        ]

    return Rule(name, statements)


def _function(name: str, body: str) -> str:
    return f'CREATE FUNCTION "{name}"() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$'


def _on_sqlite(table: str, unique: tuple[str, ...], sentence: str) -> list[str]:
    # INSERT OR REPLACE removes the old row without firing delete triggers: refuse it as well.
    same = " OR ".join(f'"{column}" = NEW."{column}"' for column in unique)
    taken = f'WHEN EXISTS (SELECT 1 FROM "{table}" WHERE {same})'  # noqa: S608
    return [
        f'CREATE TRIGGER "{table}_no_{event.lower()}" BEFORE {event} ON "{table}" {condition} '
        f"BEGIN SELECT RAISE(ABORT, '{sentence}'); END"
        for event, condition in (("UPDATE", ""), ("DELETE", ""), ("INSERT", taken))
    ]


def _on_postgresql(table: str, _: tuple[str, ...], sentence: str) -> list[str]:
    return [
        f'CREATE FUNCTION "{table}_refuse"() RETURNS trigger LANGUAGE plpgsql AS '
        f"$$ BEGIN RAISE EXCEPTION '{sentence}'; END $$",
        f'CREATE TRIGGER "{table}_no_change" BEFORE UPDATE OR DELETE ON "{table}" '
        f'FOR EACH ROW EXECUTE FUNCTION "{table}_refuse"()',
        f'CREATE TRIGGER "{table}_no_truncate" BEFORE TRUNCATE ON "{table}" '
        f'FOR EACH STATEMENT EXECUTE FUNCTION "{table}_refuse"()',
    ]
