"""Addresses of the ledger."""

from django.urls import path

from portal.ledger import api, views

urlpatterns = [path("ledger", views.ledger, name="ledger")]
api_urlpatterns = [path("ledger", api.Ledger.as_view(), name="api_ledger")]
