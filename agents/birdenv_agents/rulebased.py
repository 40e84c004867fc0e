"""Rule-based players of CoCoA's games, in either seat: the agent `rulebased`."""

from birdenv.dialogue import Move


def rulebased(argument, context):
    class P:
        def move(self, view):
            return Move("message", "hi")

    return P()
