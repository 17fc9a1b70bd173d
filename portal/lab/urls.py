"""Addresses of the lab."""

from django.urls import path

from portal.lab import api, views

urlpatterns = [
    path("lab", views.lab, name="lab"),
    path("lab/new/<str:kind>", views.ask, name="ask_study"),
    path("lab/side-by-side", views.compare, name="compare_studies"),
    path("lab/drift", views.drift, name="drift"),
    path("lab/load", views.load, name="load_study"),
    path("lab/<int:pk>", views.study, name="study"),
    path("lab/<int:pk>/cancel", views.cancel, name="cancel_study"),
    path("lab/<int:pk>/use", views.use, name="use_study"),
    path("lab/<int:pk>.<str:form>", views.export, name="export_study"),
]

api_urlpatterns = [
    path("studies", api.Studies.as_view(), name="api_studies"),
    path("studies/load", api.LoadStudy.as_view(), name="api_load_study"),
    path("studies/<int:study>", api.OneStudy.as_view(), name="api_study"),
    path("studies/<int:study>/cancel", api.CancelStudy.as_view(), name="api_cancel_study"),
]
