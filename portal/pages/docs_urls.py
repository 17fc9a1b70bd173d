"""Addresses of the documentation."""

from django.urls import path

from portal.pages import docs_views

urlpatterns = [
    path("docs", docs_views.docs_index, name="docs"),
    path("docs/<slug:slug>", docs_views.docs_page, name="docs_page"),
]
