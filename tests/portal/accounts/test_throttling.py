from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest

from portal.accounts.backends import ThrottledBackend
from portal.accounts.jobs import forget_old_login_failures
from portal.accounts.models import LoginFailure, Person
from portal.accounts.sign_in import (
    ADDRESS_LIMIT,
    NAME_LIMIT,
    WINDOW,
    TooManyFailures,
    admit,
    forget_old_failures,
    forgive,
)

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


@pytest.mark.django_db
def test_the_sixth_attempt_is_refused_with_the_right_password_too(person, sign_in):
    person(username="ada")
    for number in range(NAME_LIMIT):
        assert sign_in("ada", "wrong", address=f"192.0.2.{number}").status_code == 200
    answer = sign_in("ada", address="192.0.2.99")
    assert answer.status_code == 429
    assert 0 < int(answer["Retry-After"]) <= 15 * 60
    assert "Try again in 15 minutes." in answer.content.decode()
    assert "_auth_user_id" not in answer.browser.session


@pytest.mark.django_db
def test_names_that_nobody_has_are_refused_alike(sign_in):
    for number in range(NAME_LIMIT):
        sign_in("eve", "wrong", address=f"192.0.2.{number}")
    assert sign_in("eve", "wrong", address="192.0.2.99").status_code == 429


@pytest.mark.django_db
def test_a_success_forgets_the_names_failures(person, sign_in):
    person(username="ada")
    for _ in range(3):
        for number in range(NAME_LIMIT - 1):
            sign_in("ada", "wrong", address=f"192.0.2.{number}")
        assert sign_in("ada", address="192.0.2.50").status_code == 302


@pytest.mark.django_db
def test_a_success_does_not_forget_the_failures_of_other_names():
    for name in ("ada", "bob"):
        attempt = admit(name=name, address="192.0.2.1", now=NOON)
    forgive(attempt)
    assert LoginFailure.objects.count() == 1


@pytest.mark.django_db
def test_one_address_gets_twenty_failures_for_all_names_together():
    for number in range(ADDRESS_LIMIT):
        admit(name=f"name-{number}", address="192.0.2.1", now=NOON)
    with pytest.raises(TooManyFailures):
        admit(name="another", address="192.0.2.1", now=NOON)
    admit(name="another", address="192.0.2.2", now=NOON)


@pytest.mark.django_db
def test_the_wait_ends_when_the_oldest_failure_leaves_the_window():
    for minute in range(NAME_LIMIT):
        admit(name="ada", address="", now=NOON + timedelta(minutes=minute))
    now = NOON + timedelta(minutes=10)
    with pytest.raises(TooManyFailures) as refused:
        admit(name="ada", address="", now=now)
    assert refused.value.wait_seconds == 5 * 60
    assert str(refused.value).endswith("Try again in 5 minutes.")
    admit(name="ada", address="", now=now + timedelta(seconds=refused.value.wait_seconds))


@pytest.mark.django_db
def test_refused_attempts_do_not_make_the_wait_longer():
    for _ in range(NAME_LIMIT):
        admit(name="ada", address="", now=NOON)
    for minute in range(14):
        with pytest.raises(TooManyFailures):
            admit(name="ada", address="", now=NOON + timedelta(minutes=minute))
    admit(name="ada", address="", now=NOON + WINDOW)


@pytest.mark.django_db
def test_many_unknown_addresses_are_not_one_address():
    for number in range(ADDRESS_LIMIT + 1):
        admit(name=f"name-{number}", address="", now=NOON)


@pytest.mark.django_db
def test_the_table_holds_no_names_and_no_addresses():
    admit(name="ada", address="192.0.2.1", now=NOON)
    row = LoginFailure.objects.get()
    assert "ada" not in row.name_hash
    assert len(row.name_hash) == len(row.address_hash) == 64
    assert row.name_hash != row.address_hash


@pytest.mark.django_db
def test_old_failures_are_forgotten():
    admit(name="ada", address="", now=NOON)
    admit(name="ada", address="", now=NOON + timedelta(minutes=10))
    assert forget_old_failures(now=NOON + WINDOW) == 1
    assert LoginFailure.objects.count() == 1


@pytest.mark.django_db
def test_the_job_forgets_them_by_the_machines_time():
    admit(name="ada", address="", now=datetime.now(UTC) - 2 * WINDOW)
    admit(name="ada", address="", now=datetime.now(UTC))
    forget_old_login_failures()
    assert LoginFailure.objects.count() == 1


@pytest.mark.databases
def test_at_most_five_of_many_at_once_are_admitted(own_database):
    """Twenty times eight at the same moment; without the lock PostgreSQL admits six or more."""
    together = Barrier(8)

    def attempt(name):
        with own_database():
            together.wait(timeout=30)
            try:
                admit(name=name, address="", now=NOON)
            except TooManyFailures:
                return 0
            return 1

    with ThreadPoolExecutor(8) as pool:
        admitted = [sum(pool.map(attempt, [f"name-{number}"] * 8)) for number in range(20)]
    assert admitted == [NAME_LIMIT] * 20


@pytest.mark.databases
def test_at_most_five_of_many_at_once_reach_the_password(own_database):
    Person.objects.create_user("ada", password="correct horse battery")

    def attempt(number):
        with own_database():
            try:
                ThrottledBackend().authenticate(None, username="ada", password=f"guess {number}")
            except TooManyFailures:
                return "refused"
            return "checked"

    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(attempt, range(16)))
    assert outcomes.count("checked") == NAME_LIMIT
    assert LoginFailure.objects.count() == NAME_LIMIT
