"""Addresses of releases."""

from django.urls import path

from portal.releases import api, views, views_files

_ONE = "releases/<str:task>/<str:window>"

urlpatterns = [
    path("releases", views.releases, name="releases"),
    path("releases/key.pem", views_files.release_key, name="release_key"),
    path(_ONE, views.release, name="release"),
    path(f"{_ONE}/card", views.release_card, name="release_card"),
    path(f"{_ONE}/check", views.release_check, name="release_check"),
    path(f"{_ONE}/files/<str:name>", views_files.release_file, name="release_file"),
]
api_urlpatterns = [
    path("releases", api.Releases.as_view(), name="api_releases"),
    path(_ONE, api.OneRelease.as_view(), name="api_release"),
    path("release-key", api.ReleaseKey.as_view(), name="api_release_key"),
]
