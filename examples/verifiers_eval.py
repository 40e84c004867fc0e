"""Evaluate a model with `vf-eval`. The model is scripted, so this runs offline.

pip install 'birdenv[verifiers]'
python verifiers_eval.py
"""

import os
import subprocess
import sys
from pathlib import Path

from birdenv.testing.openai_server import demo_script, serve

scripts = Path(sys.executable).parent  # where `vf-eval` is, and `uv`, which it needs
os.environ |= {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "SCRIPTED_KEY": "none"}
command = ["vf-eval", "birdenv-verifiers", "-n", "2", "-m", "scripted-markup", "--no-push"]
command += ["--env.agent.runtime.type", "subprocess", "--client.api-key-var", "SCRIPTED_KEY"]

with serve(demo_script()) as server:
    sys.exit(subprocess.run([*command, "--client.base-url", server.url]).returncode)
