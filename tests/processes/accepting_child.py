"""A child process that opens connections at once, and does what it is told on each of them."""

from __future__ import annotations

import threading

from obeying_child import obey

from birdenv.processes.child import Owner


def main(owner: Owner) -> None:
    while (another := owner.accept()) is not None:
        threading.Thread(target=serve, args=(another,), daemon=True).start()


def serve(owner: Owner) -> None:
    owner.serve(lambda order, value: obey(owner, order, value))
