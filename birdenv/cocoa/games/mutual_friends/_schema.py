"""The schema of generated scenarios where none is given; CoCoA's own has more values."""

from __future__ import annotations

from typing import Final

from birdenv.cocoa.files import Schema
from birdenv.cocoa.games._scenario_tasks import column

_NAMES = (
    "Adrian, Beatrice, Camille, Dmitri, Elena, Farid, Greta, Hassan, Ingrid, Jonas, Keiko, Lars, "
    "Marta, Nadia, Olga, Pedro, Quentin, Rosa, Samir, Tessa, Umar, Vera, Wanda, Xenia, Yusuf, Zoe, "
    "Anton, Bruno, Clara, Diego, Esther, Felix"
)
_SCHOOLS = (
    "Arizona State University, Boston College, Brown University, Carleton College, Clark University,"
    " Colorado State University, Cornell University, Duke University, Emory University, Florida "
    "State University, Georgia State University, Harvard University, Indiana State University, Lake "
    "Forest College, Michigan State University, New York University, Northern Arizona University, "
    "Ohio University, Oregon State University, Princeton University, Purdue University, Rice "
    "University, Rutgers University, Smith College, Stanford University, Trinity College, Tulane "
    "University, University of Chicago, University of Florida, University of Michigan, University of"
    " Pennsylvania, Yale University"
)
_MAJORS = (
    "Accounting, Agricultural Sciences, Anthropology, Architecture, Art History, Biochemistry, "
    "Biology, Business Management, Chemistry, Civil Engineering, Computer Science, Creative Writing,"
    " Dance, Economics, Electrical Engineering, French, Geography, Geology, History, Journalism, "
    "Linguistics, Marketing, Mathematics, Mechanical Engineering, Music, Nursing, Philosophy, "
    "Physics, Political Science, Psychology, Sociology, Statistics"
)
_COMPANIES = (
    "Adidas, Adobe, Airbus, Apple, Bayer, Best Buy, Boeing, Canon, Cisco, Dell, Disney, Dropbox, "
    "eBay, Electronic Arts, Ford, General Electric, Google, Honda, IBM, Ikea, Intel, Kraft Foods, "
    "Lego, Microsoft, Nike, Nintendo, Nokia, Oracle, Siemens, Sony, Toyota, Uber, Whole Foods"
)
_HOBBIES = (
    "Archery, Astronomy, Baking, Beekeeping, Bird watching, Board games, Camping, Cooking, Dance, "
    "Drawing, Fishing, Gardening, Hiking, Ice skating, Juggling, Kayaking, Knitting, Listening to "
    "music, Mountain biking, Painting, Photography, Playing cards, Pottery, Reading, Rock climbing, "
    "Sailing, Skiing, Soccer, Surfing, Table tennis, Watching movies, Yoga"
)
_VALUES: Final = {
    "name": _NAMES,
    "school": _SCHOOLS,
    "major": _MAJORS,
    "company": _COMPANIES,
    "hobby": _HOBBIES,
    "time_pref": "Morning, Afternoon, Evening",
    "loc_pref": "Indoor, Outdoor",
}

SCHEMA: Final = Schema(
    values={value_type: values.split(", ") for value_type, values in _VALUES.items()},
    attributes=[
        column("Name", "name"),
        column("School", "school"),
        column("Major", "major"),
        column("Company", "company"),
        column("Hobby", "hobby"),
        column("Time Preference", "time_pref"),
        column("Location Preference", "loc_pref"),
    ],
)
