"""Addresses of tasks and reviews."""

from django.urls import path

from portal.tasks import (
    api,
    api_populations,
    api_specs,
    api_steps,
    api_tasks,
    urls_editor,
    views,
    views_review,
    views_steps,
)

urlpatterns = [
    *urls_editor.urlpatterns,
    path("tasks", views.tasks, name="tasks"),
    path("tasks/<str:name>", views.task, name="task"),
    path("tasks/<str:name>/pause", views_steps.pause_task, name="pause_task"),
    path("tasks/<str:name>/end", views_steps.end_task, name="end_task"),
    path("tasks/<str:name>/resume", views_steps.resume_task, name="resume_task"),
    path("tasks/<str:name>/withdraw", views_steps.withdraw_task, name="withdraw_task"),
    path("tasks/<str:name>/duplicate", views_steps.duplicate_task, name="duplicate_task"),
    path("tasks/<str:name>/comments", views_steps.comment_on_task, name="comment_on_task"),
    path(
        "tasks/<str:name>/comments/<int:pk>/resolve",
        views_steps.settle_thread,
        {"settled": True},
        name="resolve_thread",
    ),
    path(
        "tasks/<str:name>/comments/<int:pk>/unresolve",
        views_steps.settle_thread,
        {"settled": False},
        name="unresolve_thread",
    ),
    path("review", views_review.review, name="review"),
    path("review/<int:pk>", views_review.review_revision, name="review_revision"),
    path("review/<int:pk>/decide", views_review.decide, name="decide"),
]
api_urlpatterns = [
    path("populations", api_populations.Populations.as_view(), name="api_populations"),
    path("specs/compile", api.CompileSpec.as_view(), name="api_compile_spec"),
    path("specs/forecast", api_specs.SpecForecast.as_view(), name="api_forecast"),
    path("specs/preview", api_specs.SpecPreview.as_view(), name="api_preview"),
    path("specs/cost", api_specs.SpecCost.as_view(), name="api_cost"),
    path("specs/format", api_specs.FormatSql.as_view(), name="api_format_sql"),
    path("specs/statements", api_specs.Statements.as_view(), name="api_statements"),
    path("specs/templates", api_specs.SpecTemplates.as_view(), name="api_templates"),
    path("tasks", api_tasks.Tasks.as_view(), name="api_tasks"),
    path("tasks/<str:name>", api_tasks.OneTask.as_view(), name="api_task"),
    path("tasks/<str:name>/draft", api_tasks.TaskDraft.as_view(), name="api_draft"),
    path("tasks/<str:name>/revisions", api_tasks.Revisions.as_view(), name="api_revisions"),
    path(
        "tasks/<str:name>/revisions/<int:number>",
        api_tasks.OneRevision.as_view(),
        name="api_revision",
    ),
    path("tasks/<str:name>/windows", api_tasks.Windows.as_view(), name="api_windows"),
    path("tasks/<str:name>/submit", api_steps.Submit.as_view(), name="api_submit"),
    path("tasks/<str:name>/withdraw", api_steps.Withdraw.as_view(), name="api_withdraw"),
    path("tasks/<str:name>/pause", api_steps.Pause.as_view(), name="api_pause"),
    path("tasks/<str:name>/resume", api_steps.Resume.as_view(), name="api_resume"),
    path("tasks/<str:name>/end", api_steps.End.as_view(), name="api_end"),
    path("tasks/<str:name>/duplicate", api_steps.Duplicate.as_view(), name="api_duplicate"),
    path("tasks/<str:name>/comments", api_steps.Comments.as_view(), name="api_comments"),
    path(
        "tasks/<str:name>/comments/<int:pk>/resolve",
        api_steps.ResolveComment.as_view(),
        name="api_resolve_comment",
    ),
    path(
        "tasks/<str:name>/comments/<int:pk>/unresolve",
        api_steps.UnresolveComment.as_view(),
        name="api_unresolve_comment",
    ),
]
