"""What can go wrong with an endpoint, by what may help."""

from __future__ import annotations

from birdenv.errors import BirdenvError, InfrastructureError, RunEndedError


class EndpointError(InfrastructureError):
    """The endpoint gave no usable answer to one call, also after retries."""

    retried = True


class EndpointRefusedError(RunEndedError):
    """The endpoint refuses every call: the key, the model, the URL or the quota is at fault."""


class BudgetSpentError(RunEndedError):
    """The run has reached `--max-cost` or `--max-tokens`."""


class ReplayMissError(RunEndedError):
    """A run that is replayed makes a call that was not recorded."""


class ContextOverflowError(BirdenvError):
    """The messages are longer than the model's context."""


class TransientError(Exception):
    """One request failed, and the next may do.

    Attributes:
        kind: what happened, for counts: `rate limit`, `server error`, `unavailable`, `connection`, `timeout`,
            `bad reply`.
        after: seconds that the server asks to wait; None if it does not.
    """

    def __init__(self, message: str, kind: str, after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.after = after


class RefusedParameterError(Exception):
    """The endpoint does not know an optional parameter; the argument is its name."""


class ReasoningMissingError(Exception):
    """The endpoint wants the reasoning of earlier answers back; the argument is what it said."""


class FilteredError(Exception):
    """The endpoint's filter stopped a request; the argument is what it said."""
