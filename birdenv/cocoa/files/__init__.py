"""Read and write CoCoA's files: schemas, scenarios and dialogues.

    examples = read_examples(Path("transcripts.json"))
    write_examples(Path("out.json"), examples)

The file formats are those of https://github.com/stanfordnlp/cocoa. `docs/cocoa.md` lists the deviations that
the reader accepts.
"""

from birdenv.cocoa.files._dialogue_files import (
    ExampleRecord,
    as_examples,
    read_examples,
    write_examples,
)
from birdenv.cocoa.files._scenarios import (
    Attribute,
    Scenario,
    Schema,
    as_scenario,
    game_of_knowledge,
    read_scenarios,
    read_schema,
    write_scenarios,
)

__all__ = [
    "Attribute",
    "ExampleRecord",
    "Scenario",
    "Schema",
    "as_examples",
    "as_scenario",
    "game_of_knowledge",
    "read_examples",
    "read_scenarios",
    "read_schema",
    "write_examples",
    "write_scenarios",
]
