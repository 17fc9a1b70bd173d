from django.urls import path

from portal.audit import api, views

urlpatterns = [
    path("audit", views.audit, name="audit"),
    path("audit/export.csv", views.audit_export, {"kind": "csv"}, name="audit_csv"),
    path("audit/export.jsonl", views.audit_export, {"kind": "jsonl"}, name="audit_jsonl"),
]
api_urlpatterns = [path("audit", api.AuditEntries.as_view(), name="api_audit")]
