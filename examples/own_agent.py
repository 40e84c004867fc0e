"""An agent of your own. Start it in this folder: `birdenv c-interact --agent own_agent:Patient`.

It asks until no question is left, then submits the candidate that shares most words with what it heard.
"""

import birdenv


class Patient:
    words = None  # of the request, to ask about

    def move(self, view):
        if self.words is None:
            self.words, self.heard = iter(view.message.rstrip("?.").split()), ""
        self.heard += " " + view.message
        if "clarify" in view.legal:
            word = next((word for word in self.words if len(word) > 4), None)
            if word is not None:
                return birdenv.clarify(f"What do you mean by '{word}'?")
        said = set(self.heard.lower().split())
        best = max(view.candidates or ["SELECT NULL"], key=lambda sql: len(said & set(sql.lower().split())))
        return birdenv.submit_sql(best)
