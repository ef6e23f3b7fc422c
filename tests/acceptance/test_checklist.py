"""The checklist itself: which of its items are proven here, by tests that carry their numbers."""

from __future__ import annotations

import re
from pathlib import Path

# the wire checklist, in what a Python client or plain HTTP can show
ITEMS = {1, 2, *range(4, 12), *range(13, 17), 18, 19, 20, *range(22, 60), 62, 63, 72}
_TEST = re.compile(r"@pytest\.mark\.item\((\d+)\)\n(?:@.*\n|    .*\n|\)\n)*def test_(\d+)_")
_MARK = re.compile(r"@pytest\.mark\.item\(")


def _sources() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py")))


def test_every_item_has_a_test_and_no_test_has_another_number_in_its_name() -> None:
    marked = [(int(marker), int(name)) for marker, name in _TEST.findall(_sources())]
    assert len(marked) == len(_MARK.findall(_sources()))
    assert [pair for pair in marked if pair[0] != pair[1]] == []
    assert {marker for marker, _ in marked} == ITEMS
