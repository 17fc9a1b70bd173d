from django.urls import path

from portal.notifications import api, views

urlpatterns = [
    path("notifications", views.notifications, name="notifications"),
    path("notifications/unread", views.notifications_unread, name="notifications_unread"),
    path("notifications/read", views.notifications_read_all, name="notifications_read_all"),
    path("notifications/<int:pk>/open", views.notification_open, name="notification_open"),
    path("notifications/<int:pk>/read", views.notification_read, name="notification_read"),
    path("notifications/deliveries", views.deliveries, name="deliveries"),
    path("notifications/deliveries/retry", views.deliveries_retry_all, name="deliveries_retry_all"),
    path("notifications/deliveries/<int:pk>/retry", views.delivery_retry, name="delivery_retry"),
    path("outbox", views.outbox, name="outbox"),
]
api_urlpatterns = [
    path("notifications", api.Notifications.as_view(), name="api_notifications"),
    path(
        "notifications/<int:pk>/read",
        api.NotificationRead.as_view(),
        name="api_notification_read",
    ),
]
