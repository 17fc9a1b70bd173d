"""Addresses of the editor; `urls` includes them."""

from django.urls import path

from portal.tasks import views_editor, views_editor_live

urlpatterns = [
    path("tasks/new", views_editor.new_task, name="new_task"),
    path("tasks/<slug:name>/edit", views_editor.edit_task, name="edit_task"),
    path("tasks/<slug:name>/edit/document", views_editor.download, name="editor_document"),
    path("tasks/<slug:name>/edit/check", views_editor_live.check_text, name="editor_check"),
    path("tasks/<slug:name>/edit/save", views_editor_live.save_text, name="editor_save"),
    path("tasks/<slug:name>/edit/format", views_editor_live.format_sql, name="editor_format"),
    path(
        "tasks/<slug:name>/edit/statements", views_editor_live.statements, name="editor_statements"
    ),
    path("tasks/<slug:name>/edit/values", views_editor_live.values, name="editor_values"),
    path("tasks/<slug:name>/edit/<slug:panel>", views_editor_live.panel, name="editor_panel"),
]
