"""Serve the demo with OpenEnv, and play it with OpenEnv's own client. The moves are scripted.

    pip install 'birdenv[openenv]'
    python openenv_client.py

`examples/openenv/` contains the manifest and the application of an environment to publish.
"""

import threading
import time

import uvicorn
from openenv.core.generic_client import GenericEnvClient

from birdenv import make_game
from birdenv.adapters.openenv import make_app

server = uvicorn.Server(uvicorn.Config(make_app(make_game("c-interact")), port=0, log_level="error"))
threading.Thread(target=server.run, daemon=True).start()
while not server.started:
    time.sleep(0.05)
port = server.servers[0].sockets[0].getsockname()[1]

with GenericEnvClient(base_url=f"http://127.0.0.1:{port}").sync() as client:
    told = client.reset(instance_id="library_1", markup=True).observation["text"]
    print(next(line for line in told.splitlines() if line.startswith("Request: ")))
    for words in ("<s>What do you mean by 'roomy branches'?</s>", "<t>```sql\nSELECT 1\n```</t>"):
        result = client.step({"message": words})
        print(
            words.splitlines()[0],
            "->",
            result.observation["text"].splitlines()[0],
            result.reward,
            result.done,
        )
