"""What the audit log costs: a chained entry beside a plain row of the same size."""

from collections.abc import Iterator

from django.core.management import call_command
from django.db import connection

from aggregation.clock import SystemClock
from portal.accounts.models import Person
from portal.audit.models import Entry
from portal.audit.services import Change, record
from portal.audit.verification import verify_log
from tests.bench.figures import Figure, seconds_each


def figures() -> Iterator[Figure]:
    call_command("migrate", interactive=False, verbosity=0)
    somebody, clock = Person.objects.create(username="somebody"), SystemClock()

    def chained() -> None:
        record(
            action="test.written", subject=somebody, clock=clock, changes=[Change("name", "a", "b")]
        )

    chained()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE plain AS SELECT * FROM audit_entry")
        columns = ", ".join(f.column for f in Entry._meta.concrete_fields)

        def plain() -> None:
            cursor.execute(f"INSERT INTO plain SELECT {columns} FROM audit_entry LIMIT 1")

        floor = seconds_each(plain, times=100)
    ours = seconds_each(chained, times=100)
    yield Figure("audit.append", ours * 1e6, floor * 1e6, "µs", "plain INSERT of the same row")
    count = Entry.objects.count()
    read = seconds_each(lambda: list(Entry.objects.iterator()), times=1, rounds=3) / count
    whole = seconds_each(lambda: verify_log(whole=True), times=1, rounds=3) / count
    yield Figure("audit.verify", whole * 1e6, read * 1e6, "µs per entry", "reading the entries")
