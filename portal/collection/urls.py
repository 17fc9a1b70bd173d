"""Addresses of collection."""

from django.urls import path

from portal.collection import api, views

urlpatterns = [
    path("sessions", views.sessions, name="sessions"),
    path("sessions/live", views.sessions_live, name="sessions_live"),
]

api_urlpatterns = [path("device-keys", api.DeviceKeys.as_view(), name="api_device_keys")]
