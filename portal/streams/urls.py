from django.urls import path

from portal.streams import api, views

urlpatterns = [
    path("streams", views.streams, name="streams"),
    path("streams/<str:name>", views.stream, name="stream"),
    path("streams/<str:name>/domains/<str:column>", views.domain, name="domain"),
]
api_urlpatterns = [
    path("streams", api.Streams.as_view(), name="api_streams"),
    path("streams/<str:name>", api.OneStream.as_view(), name="api_stream"),
    path("streams/<str:name>/domains/<str:column>", api.DomainValues.as_view(), name="api_domain"),
]
