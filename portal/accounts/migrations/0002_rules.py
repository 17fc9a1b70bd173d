"""The rules of tokens that hold for every writer: what was revoked stays so."""

from django.db import migrations

from portal.triggers import changes, never_emptied, refuse

TOKEN = "accounts_apitoken"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial")]

    operations = [
        refuse(
            "a_revoked_token_stays_revoked",
            table=TOKEN,
            event="UPDATE",
            when="OLD.state = 'revoked' AND NEW.state <> 'revoked'",
        ),
        refuse(
            "a_token_is_never_replaced",
            table=TOKEN,
            event="INSERT",
            when=f"EXISTS (SELECT 1 FROM {TOKEN} t WHERE t.id = NEW.id OR t.sha256 = NEW.sha256)",
        ),
        refuse(
            "a_token_keeps_its_owner_its_secret_and_its_scopes",
            table=TOKEN,
            event="UPDATE",
            when=changes("id", "owner_id", "name", "scopes", "prefix", "sha256"),
        ),
        refuse(
            "the_end_of_a_token_only_moves_earlier",
            table=TOKEN,
            event="UPDATE",
            when="NEW.expires_at > OLD.expires_at",
        ),
        refuse(
            "a_revoked_token_is_never_removed",
            table=TOKEN,
            event="DELETE",
            when="OLD.state = 'revoked'",
        ),
        never_emptied(TOKEN),
    ]
