"""Addresses of collection."""

from django.urls import path

from portal.collection import api, api_fleet, views

urlpatterns = [
    path("sessions", views.sessions, name="sessions"),
    path("sessions/live", views.sessions_live, name="sessions_live"),
    path("fleet", views.fleet_page, name="fleet"),
    path("fleet/live", views.fleet_live, name="fleet_live"),
]

api_urlpatterns = [
    path("device-keys", api.DeviceKeys.as_view(), name="api_device_keys"),
    path("fleet", api_fleet.FleetCounts.as_view(), name="api_fleet"),
]
