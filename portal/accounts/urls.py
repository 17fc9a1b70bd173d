"""Addresses of signing in, one's account, people, and the API's own pages."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from portal.accounts import api, views, views_explorer, views_people, views_tokens

urlpatterns = [
    path("login", views.SignIn.as_view(), name="login"),
    path("logout", LogoutView.as_view(), name="logout"),
    path("switch-role", views.switch_role, name="switch_role"),
    path("account", views.account, name="account"),
    path("account/password", views.password, name="password"),
    path("account/tokens", views_tokens.tokens, name="tokens"),
    path("account/tokens/<int:token_id>/revoke", views_tokens.revoke, name="revoke_token"),
    path("people", views_people.people, name="people"),
    path("people/add", views_people.add_person, name="add_person"),
    path("people/<int:person_id>", views_people.person, name="person"),
    path("people/<int:person_id>/deactivate", views_people.deactivate, name="deactivate_person"),
    path("people/<int:person_id>/reactivate", views_people.reactivate, name="reactivate_person"),
    path("people/<int:person_id>/password", views_people.reset_password, name="reset_password"),
    path("api", views_explorer.explorer, name="api"),
]
api_urlpatterns = [
    path("me", api.Me.as_view(), name="api_me"),
    path("tokens", api.Tokens.as_view(), name="api_tokens"),
    path("tokens/<int:token_id>/revoke", api.RevokeToken.as_view(), name="api_revoke_token"),
    path("people", api.Everyone.as_view(), name="api_people"),
    path("schema", api.Description.as_view(), name="api_schema"),
]
