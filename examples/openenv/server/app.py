"""The application that the manifest names: `uvicorn server.app:app --port 8000`."""

from birdenv import make_game
from birdenv.adapters.openenv import make_app

app = make_app(make_game("c-interact"))
