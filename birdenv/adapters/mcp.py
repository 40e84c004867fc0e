"""A server for the Model Context Protocol (MCP), whose tools are the actions of the evaluated system.

Over stdio, each process plays one episode:

    python -m birdenv.adapters.mcp c-interact --task library_1 --record rollouts.jsonl

Over HTTP (`--port 8000`), each client chooses a name for its episode and sends it in the header
`birdenv-episode`. In its first request, the client also names the task in `birdenv-task`. The prompt `task`
returns the instruction. The result of a call contains the reward in `_meta` (`birdenv/reward`,
`birdenv/done`, `birdenv/void`), which models do not see.
"""

from __future__ import annotations

import asyncio
from typing import Any

from birdenv.adapters import missing
from birdenv.adapters._serving import Episodes, read_command_line
from birdenv.dialogue import Episode, tools_as
from birdenv.errors import InputError
from birdenv.version import __version__

try:
    import mcp_types as types
    import uvicorn
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
except ImportError as error:
    raise missing("mcp", error) from error


def make_server(episodes: Episodes) -> Any:
    """Return an MCP server for the given episodes. It works with every transport in the MCP SDK."""

    def find(context: Any) -> Episode:
        return episodes.find({} if context.request is None else context.request.headers)

    async def tools(context: Any, params: Any) -> Any:
        return types.ListToolsResult.model_validate({"tools": tools_as(episodes.arena.tools, "mcp")})

    async def call(context: Any, params: Any) -> Any:
        try:
            step = await find(context).acall({"name": params.name, "arguments": params.arguments})
        except InputError as error:
            return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
        earned = {"birdenv/reward": step.reward, "birdenv/done": step.done, "birdenv/void": step.void}
        return types.CallToolResult(content=[types.TextContent(text=step.text)], _meta=earned)

    async def prompts(context: Any, params: Any) -> Any:
        return types.ListPromptsResult(prompts=[types.Prompt(name="task", description="What to do.")])

    async def prompt(context: Any, params: Any) -> Any:
        words = types.TextContent(text=find(context).instruction)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=words)])

    return Server(
        "birdenv",
        version=__version__,
        on_list_tools=tools,
        on_call_tool=call,
        on_list_prompts=prompts,
        on_get_prompt=prompt,
    )


async def _serve_stdio(server: Any) -> None:
    async with stdio_server() as streams:
        await server.run(*streams, server.create_initialization_options())


def main() -> None:
    """Run the server with the command line's options until the client disconnects."""
    given = read_command_line("birdenv.adapters.mcp", __doc__ or "")
    episodes = Episodes(given.arena, given.task, given.record)
    server = make_server(episodes)
    try:
        if given.port is None:
            asyncio.run(_serve_stdio(server))
        else:
            uvicorn.run(server.streamable_http_app(), port=given.port)
    finally:
        episodes.close()


if __name__ == "__main__":
    main()
