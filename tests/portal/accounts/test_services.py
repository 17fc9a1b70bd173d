from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Thread

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from aggregation.errors import Problem
from portal.accounts.models import Grant, Person, Role
from portal.accounts.selectors import people_with_role
from portal.accounts.services import (
    add_person,
    change_password,
    change_roles,
    deactivate_person,
    give_starting_password,
    reactivate_person,
)
from portal.audit.services import record
from portal.notifications.services import notify
from portal.problems import Conflict
from tests.databases import is_anyone_waiting
from tests.parts import eventually


@pytest.mark.django_db
def test_adding_someone_works(clock):
    given = add_person(username="Ada", roles={Role.ANALYST}, clock=clock)
    assert given.person.username == "ada"
    assert given.person.check_password(given.password)
    assert len(given.password) == 23


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"username": "a b"}, "'a b' is not a valid username"),
        ({"username": "taken"}, "Somebody has this username already"),
        ({"username": "ada", "email": "nowhere"}, "'nowhere' is not a valid email"),
    ],
)
def test_adding_says_what_does_not_do(person, clock, wrong, message):
    person(username="taken")
    with pytest.raises(Problem, match=message):
        add_person(roles=(), clock=clock, **wrong)


@pytest.mark.django_db
def test_there_is_no_superuser():
    with pytest.raises(Problem, match="no superuser"):
        Person.objects.create_superuser("root", password="x")
    assert not hasattr(Person, "is_superuser")


@pytest.mark.django_db
def test_those_with_a_role_are_those_who_may_come_in(person):
    ada, gone = person("reviewer", username="ada"), person("reviewer", username="gone")
    gone.is_active = False
    gone.save()
    both = person("analyst", "reviewer", username="bea")
    assert list(people_with_role(Role.REVIEWER)) == [ada, both]
    assert list(people_with_role(Role.ANALYST, Role.REVIEWER)) == [ada, both]
    assert list(people_with_role(Role.OPERATOR)) == []


@pytest.mark.databases
@pytest.mark.django_db
@pytest.mark.parametrize("role", ["superuser", "", "Analyst"])
def test_the_database_knows_the_four_roles(person, role):
    ada = person()
    with pytest.raises(IntegrityError), transaction.atomic():
        Grant.objects.create(person=ada, role=role)


@pytest.mark.databases
@pytest.mark.django_db
def test_the_database_holds_a_role_once_and_a_username_in_lower_case(person):
    ada = person("analyst", username="ada")
    with pytest.raises(IntegrityError), transaction.atomic():
        Grant.objects.create(person=ada, role="analyst")
    with pytest.raises(IntegrityError), transaction.atomic():
        Person.objects.filter(pk=ada.pk).update(username="Ada")


@pytest.mark.databases
@pytest.mark.parametrize("way", ["step down", "push out"])
def test_two_operators_at_once_cannot_leave_nobody(own_database, clock, way):
    """Each withdraws the other (or themselves) at the same moment: one of them is refused."""
    pair = [Person.objects.create_user(f"omar{n}", password="x") for n in range(2)]
    for one in pair:
        Grant.objects.create(person=one, role=Role.OPERATOR)

    together = Barrier(2)

    def leave(number):
        with own_database():
            together.wait(timeout=30)
            try:
                if way == "step down":
                    change_roles(person=pair[number], roles=(), actor=pair[number], clock=clock)
                else:
                    deactivate_person(person=pair[number], actor=pair[1 - number], clock=clock)
            except Problem:
                return False
            return True

    with ThreadPoolExecutor(2) as pool:
        outcomes = sorted(pool.map(leave, range(2)))
    assert outcomes == [False, True]
    assert people_with_role(Role.OPERATOR).count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("meanwhile", ["deactivated", "another password", "no operator"])
@pytest.mark.parametrize("deed", ["add", "roles", "password", "reactivate"])
def test_who_is_out_meanwhile_lets_nobody_in(person, clock, meanwhile, deed):
    """Their request began before that, with a good password."""
    omar, other = person("operator", username="omar"), person("operator", username="other")
    ada, gone = person(username="ada"), person(username="gone")
    deactivate_person(person=gone, actor=other, clock=clock)
    before = Person.objects.get(pk=omar.pk)
    if meanwhile == "deactivated":
        deactivate_person(person=omar, actor=other, clock=clock)
    elif meanwhile == "another password":
        change_password(person=omar, password="four quite random words", clock=clock)
    else:
        change_roles(person=omar, roles=(), actor=other, clock=clock)
    by = {"actor": before, "clock": clock}
    deeds = {
        "add": lambda: add_person(username="new", roles=[Role.OPERATOR], **by),
        "roles": lambda: change_roles(person=ada, roles=[Role.OPERATOR], **by),
        "password": lambda: give_starting_password(person=ada, **by),
        "reactivate": lambda: reactivate_person(person=gone, **by),
    }
    with pytest.raises(Conflict, match=r"just now|no longer an operator"):
        deeds[deed]()
    assert not Person.objects.filter(username="new").exists()
    assert not Person.objects.get(pk=ada.pk).roles()
    assert Person.objects.get(pk=ada.pk).password == ada.password
    assert not Person.objects.get(pk=gone.pk).is_active


@pytest.mark.databases
def test_somebody_is_added_while_an_operator_is_told_something(own_database, clock):
    """Who tells them holds the log, and has to name the operator; who adds has the operators, and
    has to write in the log."""
    omar = Person.objects.create_user("omar", password="x")
    Grant.objects.create(person=omar, role=Role.OPERATOR)
    met = []

    def add():
        with own_database():
            try:
                add_person(username="ada", roles=(), clock=clock, actor=omar)
            except DatabaseError as error:
                met.append(error)

    thread = Thread(target=add)
    with transaction.atomic():
        record(action="task.paused", subject=omar, clock=clock)
        thread.start()
        eventually(is_anyone_waiting)
        notify(recipients=[omar], kind="task.paused", title="So", body="", link="/", clock=clock)
    thread.join(timeout=60)
    assert not met
    assert Person.objects.filter(username="ada").exists()


@pytest.mark.databases
def test_a_former_operator_is_let_in_again_while_roles_are_saved(own_database, clock):
    """Whoever may be an operator is locked by both: in one order."""
    omar, olga, ada = (Person.objects.create_user(name, password="x") for name in ("o", "l", "a"))
    Grant.objects.bulk_create(Grant(person=one, role=Role.OPERATOR) for one in (omar, olga))
    deactivate_person(person=olga, actor=omar, clock=clock)
    met = []

    def let_in():
        with own_database():
            try:
                reactivate_person(person=olga, actor=omar, clock=clock)
            except DatabaseError as error:
                met.append(error)

    thread = Thread(target=let_in)
    with transaction.atomic():
        # As who saves roles begins: one operator after the other.
        list(Person.objects.select_for_update(no_key=True).filter(pk=omar.pk))
        thread.start()
        eventually(is_anyone_waiting)
        list(Person.objects.select_for_update(no_key=True).filter(pk=olga.pk))
        change_roles(person=ada, roles=[Role.ANALYST], actor=omar, clock=clock)
    thread.join(timeout=60)
    assert not met
    assert Person.objects.get(pk=olga.pk).is_active
