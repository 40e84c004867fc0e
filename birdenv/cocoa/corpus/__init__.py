"""Analyse the effectiveness, text and strategy of a corpus of dialogues, and write a page to browse it.

analysis = analyse(file_dialogues(Path("transcripts.json")))
print(analysis.text())
Path("corpus.html").write_text(page(analysis))
"""

from birdenv.cocoa.corpus._analysis import Analysis, analyse
from birdenv.cocoa.corpus._corpus import (
    CorpusDialogue,
    file_dialogues,
    game_of,
    listed_dialogues,
    read_dialogues,
    run_dialogues,
)
from birdenv.cocoa.corpus._page import page
from birdenv.cocoa.corpus._rater_answers import Rated
from birdenv.statistics import number

__all__ = [
    "Analysis",
    "CorpusDialogue",
    "Rated",
    "analyse",
    "file_dialogues",
    "game_of",
    "listed_dialogues",
    "number",
    "page",
    "read_dialogues",
    "run_dialogues",
]
