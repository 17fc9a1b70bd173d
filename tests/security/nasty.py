"""Values and bodies that programs trip over."""

import json
from typing import Any

# As they stand in an address, percent-encoded.
WORDS = {
    "NUL": "a%00b",
    "half a character": "%ed%a0%80",
    "no UTF-8": "%ff%fe",
    "a way out": "..%2f..%2fetc%2fpasswd",
    "SQL": "%27%20OR%201=1--",
    "script": "%3Cscript%3Ealert(1)%3C/script%3E",
    "long": "x" * 3000,
    "a huge number": "9" * 30,
    "less than nothing": "-1",
    "no number": "nan",
    "an infinite number": "1e999",
    "a line": "a%0d%0aSet-Cookie:%20a=b",
    "right to left": "%e2%80%ae",
}

_DEEP = 100_000

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "deep lists": b"[" * _DEEP,
    "closed deep lists": b"[" * _DEEP + b"]" * _DEEP,
    "deep objects": b'{"a":' * _DEEP,
    "a deep field": b'{"text":' + b"[" * _DEEP + b"]" * _DEEP + b"}",
    "a long number": b'{"version":' + b"9" * 5000 + b"}",
    "an infinite number": b'{"version":1e999,"base_version":1e999}',
    "NaN": b'{"version":NaN}',
    "no UTF-8": b'{"text":"\xff\xfe"}',
    "UTF-16": '{"text":"a"}'.encode("utf-16"),
    "a mark of the order of bytes": b"\xef\xbb\xbf{}",
    "another kind": b"7",
    "null": b"null",
    "many fields": b"{" + b",".join(b'"a%d":1' % n for n in range(5000)) + b"}",
}


def filled(schema: dict[str, Any], word: Any) -> bytes:
    """A body with this in each of its fields."""
    names = schema.get("properties", {}) or {"text": {}}
    return json.dumps(dict.fromkeys(names, word)).encode()


FIELDS: dict[str, Any] = {
    "NUL": "a\0b",
    "half a character": "\ud800",
    "a huge number": 10**30,
    "less than nothing": -(10**30),
    "a list": [["a"]],
    "an object": {"a": {"b": None}},
    "true": True,
    "null": None,
    "a bomb": "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]",
    "a tag": "!!python/object/apply:os.system ['id']",
    "script": "<script>alert(1)</script>",
}

TYPES = (
    "application/json; charset=base64",
    "application/json; charset=no-such",
    "application/json; charset=utf-7",
    "application/x-www-form-urlencoded; charset=rot13",
    "multipart/form-data; boundary=b; charset=hex",
    "multipart/form-data",
    "multipart/form-data; boundary=" + "b" * 300,
    "multipart/form-data; boundary=é",
    "text/\x7f",
    ";;;",
    "",
)
