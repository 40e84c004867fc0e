"""An agent of your own for `birdenv c-interact --agent own_agent:Patient` (started in this folder).

It asks until no question is left, then submits the candidate that shares most words with what it heard.
"""

from birdenv.dialogue import Move


class Patient:
    sees_private = False

    def __init__(self, argument, setting):
        self.setting = setting

    def new_session(self, task, rng, private=None):
        return Session(task.question)


class Session:
    def __init__(self, question):
        self.words = iter(question.rstrip("?.").split())
        self.heard = question

    def move(self, view):
        self.heard += " " + view.message
        if "clarify" in view.legal:
            word = next((word for word in self.words if len(word) > 4), None)
            if word is not None:
                return Move("clarify", f"What do you mean by '{word}'?")
        said = set(self.heard.lower().split())
        best = max(view.candidates or ["SELECT NULL"], key=lambda sql: len(said & set(sql.lower().split())))
        return Move("submit_sql", best)
