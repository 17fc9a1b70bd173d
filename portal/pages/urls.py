"""Addresses of home, health, the overview and the theme. The documentation has its own."""

from django.urls import path

from portal.pages import views, views_overview
from portal.pages.metrics_view import Metrics

urlpatterns = [
    path("", views.home, name="home"),
    path("now", views.now, name="now"),
    path("health", views.health, name="health"),
    path("ready", views_overview.ready, name="ready"),
    path("overview", views_overview.overview, name="overview"),
    path("metrics", Metrics.as_view(), name="metrics"),
    path("theme", views.choose_theme, name="theme"),
]
