"""Addresses of the home page, health and the theme. The documentation has its own."""

from django.urls import path

from portal.pages import views
from portal.pages.metrics_view import Metrics

urlpatterns = [
    path("", views.home, name="home"),
    path("now", views.now, name="now"),
    path("health", views.health, name="health"),
    path("metrics", Metrics.as_view(), name="metrics"),
    path("theme", views.choose_theme, name="theme"),
]
