"""How the ledger is written on pages."""

from django import template

from portal.ledger.amounts import in_words

register = template.Library()


@register.filter
def epsilon(hundredths: int) -> str:
    return in_words(hundredths)
