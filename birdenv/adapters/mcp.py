"""The Model Context Protocol: a server whose tools are the actions of the evaluated seat.

Over stdio the process is the episode:

    python -m birdenv.adapters.mcp c-interact --task library_1 --record rollouts.jsonl

Over HTTP (`--http 8000`) each client names its episode in the header `birdenv-episode` (any text of its own) and,
with its first request, the task in `birdenv-task`. The instruction is the prompt `task`. What a call earned is in
the result's `_meta` (`birdenv/reward`, `birdenv/done`, `birdenv/void`), which models do not read.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
from typing import Any

from birdenv.adapters import missing
from birdenv.dialogue import Arena, Episode, make_game, tools_as
from birdenv.errors import InputError

try:
    import mcp_types as types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ImportError as error:
    raise missing("mcp", error) from error

__all__ = ["Episodes", "make_server"]


class Episodes:
    """The open episodes of a server, by the handle that a client gave them.

    Args:
        arena: the game.
        task: the task of a client that names none.
        record: a file for the records of episodes, a JSON line each; None keeps none.
        most: episodes that may be open; a further one is refused.
        idle: seconds without a call after which an episode is closed.
    """

    def __init__(
        self, arena: Arena, task: str, record: str | None = None, most: int = 256, idle: float = 3600.0
    ) -> None:
        self.arena = arena
        self._task, self._record, self._most, self._idle = task, record, most, idle
        self._open: dict[str, tuple[Episode, float]] = {}

    def episode(self, request: Any) -> Episode:
        """Return the episode that a request is about, a new one if need be.

        Raises:
            InputError: there is no such task, or too many episodes are open.
        """
        headers = {} if request is None else request.headers
        handle, now = headers.get("birdenv-episode", ""), time.monotonic()
        for other, (episode, used) in list(self._open.items()):
            if now - used > self._idle:
                self._open.pop(other)
                self._end(episode)
        if handle not in self._open and len(self._open) >= self._most:
            raise InputError(f"{self._most} episodes are open: end one, or wait")
        found = self._open.get(handle)
        episode = found[0] if found else self.arena.episode(headers.get("birdenv-task", self._task))
        self._open[handle] = (episode, now)
        return episode

    def close(self) -> None:
        """End all episodes, and keep their records."""
        while self._open:
            self._end(self._open.popitem()[1][0])

    def _end(self, episode: Episode) -> None:
        episode.stop("left")
        if self._record is not None:
            with open(self._record, "a", encoding="utf-8") as file:
                file.write(json.dumps(episode.record("mcp")) + "\n")
        episode.close()


def make_server(episodes: Episodes) -> Server[Any]:
    """Return the server, for any transport of the SDK."""

    async def tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(each) for each in tools_as(episodes.arena.tools, "mcp")]
        )

    async def call(context: Any, params: Any) -> types.CallToolResult:
        try:
            episode = episodes.episode(context.request)
            step = await episode.acall({"name": params.name, "arguments": params.arguments})
        except InputError as error:
            return types.CallToolResult(content=[_text(str(error))], is_error=True)
        earned = {"birdenv/reward": step.reward, "birdenv/done": step.done, "birdenv/void": step.void}
        return types.CallToolResult(content=[_text(step.text)], _meta=earned)

    async def prompts(context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="task", description="What to do.")])

    async def prompt(context: Any, params: Any) -> types.GetPromptResult:
        words = _text(episodes.episode(context.request).instruction)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=words)])

    return Server(
        "birdenv", on_list_tools=tools, on_call_tool=call, on_list_prompts=prompts, on_get_prompt=prompt
    )


def _text(words: str) -> types.TextContent:
    return types.TextContent(type="text", text=words)


async def _serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main() -> None:
    """Serve episodes of a game until the client leaves."""
    parser = argparse.ArgumentParser("python -m birdenv.adapters.mcp", description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--task", help="the task's id (default: the first)")
    parser.add_argument("--http", type=int, metavar="PORT", help="serve on this port instead of stdio")
    parser.add_argument("--record", metavar="FILE", help="append each episode's record to this file")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=JSON", help="a setting of the game"
    )
    chosen = parser.parse_args()
    settings = {name: json.loads(value) for name, _, value in (each.partition("=") for each in chosen.set)}
    with make_game(chosen.game, **settings) as arena:
        episodes = Episodes(arena, chosen.task or arena.ids[0], chosen.record)
        try:
            if chosen.http is None:
                asyncio.run(_serve_stdio(make_server(episodes)))
            else:
                import uvicorn

                uvicorn.run(make_server(episodes).streamable_http_app(), port=chosen.http)
        finally:
            episodes.close()


if __name__ == "__main__":
    main()
