"""Addresses of releases."""

from django.urls import path

from portal.releases import (
    api,
    api_files,
    api_following,
    api_rows,
    feeds,
    views,
    views_charts,
    views_compare,
    views_dictionary,
    views_emissions,
    views_files,
    views_following,
    views_places,
)

_ONE = "releases/<str:task>/<str:window>"

urlpatterns = [
    path("releases", views.releases, name="releases"),
    path("releases/key.pem", views_files.release_key, name="release_key"),
    path("releases/compare", views_compare.compare_releases, name="compare"),
    path("releases/<str:task>", views.latest_release, name="latest_release"),
    path("releases/<str:task>/follow", views_following.follow_task, name="follow_task"),
    path("releases/<str:task>/feed.atom", feeds.release_feed, name="release_feed"),
    path(_ONE, views.release, name="release"),
    path(f"{_ONE}/map", views.release_map, name="release_map"),
    path(f"{_ONE}/table", views.release_table, name="release_table"),
    path(f"{_ONE}/chart.svg", views_charts.chart_file, {"kind": "chart"}, name="chart_file"),
    path(f"{_ONE}/map.svg", views_charts.chart_file, {"kind": "map"}, name="map_file"),
    path(f"{_ONE}/embed", views_charts.embedded, {"kind": "chart"}, name="chart_embed"),
    path(f"{_ONE}/map/embed", views_charts.embedded, {"kind": "map"}, name="map_embed"),
    path(f"{_ONE}/card", views.release_card, name="release_card"),
    path(f"{_ONE}/check", views.release_check, name="release_check"),
    path(f"{_ONE}/dictionary", views_dictionary.release_dictionary, name="release_dictionary"),
    path(f"{_ONE}/files/<str:name>", views_files.release_file, name="release_file"),
    path("places", views_places.places, name="places"),
    path("places/<int:geonameid>", views_places.place, name="place"),
    path("countries/<str:code>", views_places.country, name="country"),
    path("emissions", views_emissions.emissions, name="emissions"),
]
api_urlpatterns = [
    path("releases", api.Releases.as_view(), name="api_releases"),
    path("releases/<str:task>/following", api_following.Following.as_view(), name="api_following"),
    path("releases/<str:task>/series", api_rows.Series.as_view(), name="api_series"),
    path(_ONE, api.OneRelease.as_view(), name="api_release"),
    path(f"{_ONE}/cells", api_rows.Cells.as_view(), name="api_cells"),
    path(f"{_ONE}/card", api_files.Card.as_view(), name="api_card"),
    path(f"{_ONE}/dictionary", api_files.Dictionary.as_view(), name="api_dictionary"),
    path(f"{_ONE}/files/<str:name>", api_files.Exports.as_view(), name="api_release_file"),
    path("release-key", api.ReleaseKey.as_view(), name="api_release_key"),
]
