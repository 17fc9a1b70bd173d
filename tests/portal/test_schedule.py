"""What beat asks for exists, and nothing that is there to be asked is forgotten."""

from django.conf import settings

from portal.celery import app


def test_every_scheduled_job_exists_and_every_job_is_scheduled():
    app.loader.import_default_modules()
    ours = {name for name in app.tasks if not name.startswith("celery.")}
    messages = settings.CELERY_BEAT_SCHEDULE.values()
    asked = [name for message in messages for name in message["args"][0]]
    assert len(asked) == len(set(asked))
    assert {message["task"] for message in messages} == {"pages.ask"}
    # A session is asked for by the controller, by its id.
    assert ours == {*asked, "pages.ask", "collection.run_session"}


def test_jobs_keep_no_result():
    app.loader.import_default_modules()
    assert all(
        task.ignore_result for name, task in app.tasks.items() if not name.startswith("celery.")
    )
