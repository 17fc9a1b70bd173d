from django.urls import path

from portal.lab.on_devices import views

urlpatterns = [
    path("lab/on-phones/<str:name>", views.on_devices, name="on_devices"),
    path("lab/on-phones/<str:name>/scales", views.ask_scales, name="ask_scales"),
    path("lab/on-phones/<str:name>/clip", views.ask_clip, name="ask_clip"),
    path("lab/on-phones/<str:name>/use", views.use_calibration, name="use_calibration"),
]
