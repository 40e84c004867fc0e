"""Comparing results: canonical cells, tolerance, multisets, order, columns, and why two differ.

Values that are nested too deeply to be compared differ.
"""

from birdenv.grading.compare import _interact_rows, _metrics, _multiset, _ordered
from birdenv.grading.compare._canonical import canonical_cell, canonical_row
from birdenv.grading.compare._interact_rows import Conditions
from birdenv.grading.compare._metrics import MODES, Mode
from birdenv.grading.compare._multiset import Comparison
from birdenv.grading.compare._nested import DIFFERENT, bounded
from birdenv.grading.compare._normalisation import Normalisation, normalised

compare = bounded(_metrics.compare, DIFFERENT)
compare_bird = bounded(_multiset.compare_bird, DIFFERENT)
compare_colperm = bounded(_metrics.compare_colperm, DIFFERENT)
compare_multiset = bounded(_multiset.compare_multiset, DIFFERENT)
compare_ordered = bounded(_ordered.compare_ordered, DIFFERENT)
compare_strict = bounded(_interact_rows.compare_strict, DIFFERENT)
compare_superset = bounded(_metrics.compare_superset, DIFFERENT)
soft_f1 = bounded(_metrics.soft_f1, 0.0)

__all__ = [
    "MODES",
    "Comparison",
    "Conditions",
    "Mode",
    "Normalisation",
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
