"""Generate benchmarks from short descriptions of the concepts in a database."""

from birdenv.benchmarks.generator._families import read_concepts
from birdenv.benchmarks.generator._generate import NEW_FORMS_FILE, Generated, generate

__all__ = ["NEW_FORMS_FILE", "Generated", "generate", "read_concepts"]
