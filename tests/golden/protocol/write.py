"""Write the golden vectors: `python -m tests.golden.protocol.write`, then read the difference.

Devices in the field hold to these bytes. A difference is a new version of the protocol.
"""

import json
from pathlib import Path

from tests.golden.protocol.vectors import VECTORS

FOLDER = Path(__file__).parent


def text_of(name: str) -> str:
    return json.dumps(VECTORS[name](), indent=1, ensure_ascii=False) + "\n"


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.json"


if __name__ == "__main__":
    for each in VECTORS:
        path_of(each).write_text(text_of(each))
