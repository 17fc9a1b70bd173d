from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.sessions.models import Session

from portal.accounts.jobs import forget_old_sessions

pytestmark = pytest.mark.django_db


def test_sessions_that_are_over_are_deleted(person, signed_in):
    over, open_one = signed_in("analyst"), signed_in("analyst")
    yesterday = datetime.now(UTC) - timedelta(days=1)
    Session.objects.filter(pk=over.session.session_key).update(expire_date=yesterday)
    forget_old_sessions()
    assert [row.pk for row in Session.objects.all()] == [open_one.session.session_key]
