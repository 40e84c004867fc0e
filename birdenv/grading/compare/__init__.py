"""Compare the results of two queries by several rules, and explain how the results differ."""

from birdenv.grading.compare._cells import Normalisation, canonical_cell, canonical_row, normalised
from birdenv.grading.compare._interact_rows import Conditions, compare_strict
from birdenv.grading.compare._metrics import MODES, compare, compare_colperm, compare_superset, soft_f1
from birdenv.grading.compare._rows import RowsComparison, compare_bird, compare_multiset, compare_ordered

__all__ = [
    "MODES",
    "Conditions",
    "Normalisation",
    "RowsComparison",
    "canonical_cell",
    "canonical_row",
    "compare",
    "compare_bird",
    "compare_colperm",
    "compare_multiset",
    "compare_ordered",
    "compare_strict",
    "compare_superset",
    "normalised",
    "soft_f1",
]
