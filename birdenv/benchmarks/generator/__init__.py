"""Generate benchmarks from short descriptions of database concepts."""

from birdenv.benchmarks.generator._families import Concepts, demo_concepts, read_concepts
from birdenv.benchmarks.generator._generate import NEW_FORMS_FILE, Generated, generate

__all__ = ["NEW_FORMS_FILE", "Concepts", "Generated", "demo_concepts", "generate", "read_concepts"]
