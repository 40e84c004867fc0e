"""Analyse effectiveness, text and strategy in a dialogue corpus, and write a page to browse it.

analysis = analyse(file_dialogues(Path("transcripts.json")))
print(analysis.text())
Path("corpus.html").write_text(page(analysis))
"""

from birdenv.cocoa.corpus._analysis import Analysis, analyse
from birdenv.cocoa.corpus._corpus import CorpusDialogue, game_of, read_dialogues
from birdenv.cocoa.corpus._page import page
from birdenv.cocoa.corpus._rater_answers import Rated
from birdenv.statistics import number

__all__ = [
    "Analysis",
    "CorpusDialogue",
    "Rated",
    "analyse",
    "game_of",
    "number",
    "page",
    "read_dialogues",
]
