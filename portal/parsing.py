"""What requests are made of: JSON that is not too deep, and text that is UTF-8.

Imported by the API's ground before anything of ours, so it knows nothing of ours.
"""

import codecs
import json
from collections.abc import Awaitable, Callable
from io import BytesIO
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

Answered = Callable[[HttpRequest], Any]


class JsonParser(JSONParser):
    """Refuses what Python reads and nothing else can write: halves of characters, as `\\ud800`.

    Python's reader gives up on deep nesting with an error of its own kind.
    """

    def parse(self, stream: Any, media_type: Any = None, parser_context: Any = None) -> Any:
        body = stream.read()
        try:
            found = super().parse(BytesIO(body), media_type, parser_context)
            if b"\\u" in body:
                json.dumps(found, ensure_ascii=False).encode()
        except RecursionError:
            raise ParseError("The document is nested too deeply.") from None
        except UnicodeEncodeError:
            raise ParseError("Half of a character stands in the document.") from None
        return found


@sync_and_async_middleware
def only_text(get_response: Answered) -> Answered:
    """Refuse what is no text.

    Of bodies, another encoding: some names that Python knows are no encodings of text. Of
    addresses, the character that ends a text elsewhere: nothing has it in its name, and PostgreSQL
    cannot even be asked for it.
    """
    if iscoroutinefunction(get_response):

        async def asynchronously(request: HttpRequest) -> HttpResponseBase:
            _check(request)
            answer: Awaitable[HttpResponseBase] = get_response(request)
            return await answer

        return asynchronously

    def at_once(request: HttpRequest) -> HttpResponseBase:
        _check(request)
        answer: HttpResponseBase = get_response(request)
        return answer

    return at_once


def _check(request: HttpRequest) -> None:
    if "\0" in request.path_info:
        raise Http404
    named = request.encoding
    if named and codecs.lookup(named).name != "utf-8":
        raise BadRequest("Send UTF-8.")
