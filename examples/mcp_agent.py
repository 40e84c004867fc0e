"""Play an episode over the Model Context Protocol. The moves are scripted, so this runs offline.

    pip install 'birdenv[mcp]'
    python mcp_agent.py

Your own agent starts `python -m birdenv.adapters.mcp c-interact --task library_1` as its server.
"""

import asyncio
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

SERVER = ["-m", "birdenv.adapters.mcp", "c-interact", "--task", "library_1"]
MOVES = [
    ("clarify", {"question": "What do you mean by 'roomy branches'?"}),
    ("submit_sql", {"sql": "SELECT name FROM branches WHERE seats >= 40"}),
]


async def main():
    async with Client(stdio_client(StdioServerParameters(command=sys.executable, args=SERVER))) as client:
        task = (await client.get_prompt("task")).messages[0].content.text
        print(next(line for line in task.splitlines() if line.startswith("Request: ")))
        for name, arguments in MOVES:
            result = await client.call_tool(name, arguments)
            print(name, "->", result.content[0].text.splitlines()[0], result.meta)


asyncio.run(main())
