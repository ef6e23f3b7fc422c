"""The gate: who asks to be alone is alone, and nobody waits for ever."""

from __future__ import annotations

import threading

from core.services.gate import Gate


def test_many_pass_together_and_one_that_asks_to_be_alone_waits_for_them_and_holds_the_others_off() -> None:
    gate, order = Gate(), []
    inside, leave, alone_inside, alone_leave = (threading.Event() for _ in range(4))

    def ordinary() -> None:
        with gate.passing(alone=False):
            inside.set()
            leave.wait(10)
        order.append("ordinary left")

    def alone() -> None:
        with gate.passing(alone=True):
            order.append("alone")
            alone_inside.set()
            alone_leave.wait(10)
            order.append("alone leaves")

    def late() -> None:
        with gate.passing(alone=False):
            order.append("late")

    first, second, third = (threading.Thread(target=work) for work in (ordinary, alone, late))
    first.start()
    assert inside.wait(10)
    second.start()
    assert not alone_inside.wait(0.1)
    leave.set()
    assert alone_inside.wait(10)
    third.start()
    third.join(0.1)
    assert "late" not in order
    alone_leave.set()
    for thread in (first, second, third):
        thread.join(10)
        assert not thread.is_alive()
    assert order.index("alone leaves") < order.index("late")
