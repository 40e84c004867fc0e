"""Merge the ground truth that the authors send by e-mail into public task files, and report problems.

Unlike in the authors' own script (BIRD-Interact `combine_public_with_gt.py`), ids must match, and nothing is
dropped silently.

The keys in published prediction files for BIRD mini-dev follow the order of the 2024 edition. The 2024
edition (500 rows) contains the questions 137 and 138 twice, and lacks 119 and 120. The 2025 edition contains
each of its 500 questions once. The two editions have the same order up to row 483.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from birdenv.errors import InputError
from birdenv.files import read_records
from birdenv.statistics import counted
from birdenv.tasks import Defects
from birdenv.tasks.c_interact import CInteractTask

_ORDER = """
1471 1472 1473 1476 1479 1480 1481 1482 1483 1484 1486 1490 1493 1498 1500 1501 1505 1506 1507 1509
1514 1515 1521 1524 1525 1526 1528 1529 1531 1533 1312 1317 1322 1323 1331 1334 1338 1339 1340 1344
1346 1350 1351 1352 1356 1357 1359 1361 1362 1368 1371 1375 1376 1378 1380 1381 1387 1389 1390 1392
1394 1398 1399 1401 1403 1404 1405 1409 1410 1411 1422 1426 1427 1432 1435 1457 1460 1464 1149 1150
1152 1153 1155 1156 1157 1162 1164 1166 1168 1169 1171 1175 1179 1185 1187 1189 1192 1195 1198 1201
1205 1208 1209 1220 1225 1227 1229 1231 1232 1235 1238 1239 1241 1242 1243 1247 1251 1252 1254 1255
1256 1257 1265 1267 1270 1275 1281 1302 1025 1028 1029 1030 1031 1032 1035 1036 1037 1039 1040 1042
1044 1048 1057 1058 1068 1076 1078 1079 1080 1084 1088 1091 1092 1094 1096 1098 1102 1103 1105 1107
1110 1113 1114 1115 1116 1122 1124 1130 1133 1134 1135 1136 1139 1141 1144 1145 1146 1147 1148 846
847 850 854 857 859 861 862 865 866 868 869 872 875 877 879 880 881 884 892 894 895 896 897 898 901
902 904 906 909 910 912 915 928 930 931 933 937 940 944 945 948 950 951 954 955 959 960 962 963 964
967 971 972 977 978 981 988 989 990 717 994 1001 1002 1003 1011 1014 719 723 724 726 728 730 732 733
736 737 738 739 740 743 744 745 747 750 751 753 758 760 761 764 765 766 769 772 773 775 779 781 782
785 786 788 790 791 792 794 796 797 798 800 801 806 819 822 824 825 829 531 532 533 539 537 544 547
549 555 557 563 565 567 568 571 572 573 576 578 581 584 586 587 592 595 598 604 629 633 634 637 639
640 665 669 671 672 678 682 683 685 687 694 701 704 705 707 710 716 340 341 344 345 346 347 349 352
356 358 366 368 371 377 379 383 391 397 402 405 407 408 409 412 414 415 416 422 424 427 440 459 462
465 466 468 469 472 473 474 477 479 480 483 484 486 487 518 522 528 529 530 195 197 198 200 201 206
207 208 212 213 215 218 219 220 226 227 228 230 231 232 234 236 239 240 242 243 244 245 247 248 249
253 255 260 263 268 273 281 282 327 5 11 12 17 23 24 25 26 27 28 31 32 37 36 39 40 41 45 46 47 48 50
62 72 77 79 82 83 85 87 89 92 93 94 95 98 99 100 112 115 116 117 118 125 128 136 137 138 129 137 138
145 149 152 159 168 169 173 186 189 192 194
"""


def keys_of_2024() -> list[tuple[str, int]]:
    """Return `(question_id, occurrence)` for each row in the 2024 edition of BIRD mini-dev.

    The occurrences of a question are counted from 1.
    """
    seen: Counter[str] = Counter()
    keys = []
    for question_id in _ORDER.split():
        seen[question_id] += 1
        keys.append((question_id, seen[question_id]))
    return keys


def has_2024_signature(question_ids: Sequence[str]) -> bool:
    """Return True if the ids are the 500 question ids of the 2024 edition, in the same order."""
    return list(question_ids) == _ORDER.split()


WHERE_TO_ASK = (
    "The authors send it by e-mail: write to bird.bench25@gmail.com with the subject [bird-interact-lite "
    "GT&Test Cases], [bird-interact-full GT&Test Cases] or [mini-interact GT&Test Cases], then add it by "
    "`birdenv data merge`"
)
"""Says how to get the ground truth of BIRD-Interact."""


def missing_ground_truth(tasks: Sequence[CInteractTask]) -> str:
    """Return the fields that lack ground truth, each with the number of tasks, as text; "" for none.

    Only Management tasks and Management follow-ups need test cases.
    """
    missing = {"sol_sql": 0, "test_cases": 0, "follow_up.sol_sql": 0, "follow_up.test_cases": 0}
    for task in tasks:
        private, follow_up = task.private, task.private.follow_up
        missing["sol_sql"] += not private.gold
        untested = not (private.test_cases or private.by_state)
        missing["test_cases"] += private.category == "Management" and untested
        if follow_up is not None:
            missing["follow_up.sol_sql"] += not follow_up.gold
            untested = not (follow_up.test_cases or follow_up.by_state)
            missing["follow_up.test_cases"] += follow_up.category == "Management" and untested
    return ", ".join(f"{field} of {counted(count, 'task')}" for field, count in missing.items() if count)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in one task, or in a whole file.

    Attributes:
        instance_id: the id of the task, or "" if the problem concerns the whole file.
        message: a description of the problem.
        truth_missing: True if the problem is missing ground truth, which `--partial` allows.
    """

    instance_id: str
    message: str
    truth_missing: bool = False

    def __str__(self) -> str:
        return f"{self.instance_id}: {self.message}" if self.instance_id else self.message


@dataclass(frozen=True, slots=True)
class PreparationReport:
    """The result of checking benchmark data.

    Attributes:
        problems: problems that have to be fixed.
        warnings: potential problems that a person should look at.
        figures: named counts, such as the number of records.
        defects: the reasons why a task's gold is defective, by task id. They do not quote the gold.
    """

    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...]
    figures: dict[str, int]
    defects: Defects = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Return True if there are no problems."""
        return not self.problems

    @property
    def partial_would_pass(self) -> bool:
        """Return True if there are no problems other than missing ground truth."""
        return all(problem.truth_missing for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {
            "passed": self.passed,
            "figures": self.figures,
            "problems": [{"instance_id": p.instance_id, "message": p.message} for p in self.problems],
            "warnings": [{"instance_id": p.instance_id, "message": p.message} for p in self.warnings],
            "defects": {name: list(reasons) for name, reasons in self.defects.items()},
        }

    def lines(self, most: int = 20) -> list[str]:
        """Return the report as lines of text.

        At most `most` of each are listed: problems, defects and warnings.
        """
        lines = [f"{name}: {count}" for name, count in self.figures.items()]
        defects = [Problem(name, reason) for name, reasons in self.defects.items() for reason in reasons]
        listed = (("PROBLEM", self.problems), ("defective", defects), ("warning", self.warnings))
        for title, items in listed:
            said = _grouped(items)
            lines += [f"{title}  {line}" for line in said[:most]]
            if len(said) > most:
                lines.append(f"{title}  ... and {len(said) - most} more")
        return lines


def _grouped(problems: Sequence[Problem]) -> list[str]:
    """Return a line for each message, with the ids of the tasks that it concerns."""
    by_message: dict[str, list[str]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem.instance_id)
    lines = []
    for message, names in by_message.items():
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        lines.append(f"{shown}: {message}" if shown else message)
    return lines


_KEYS = ("sol_sql", "external_knowledge", "test_cases")


@dataclass(frozen=True, slots=True)
class Merged:
    """The result of merging a public task file with its ground truth.

    Attributes:
        records: the merged records, in the order of the public file.
        problems: mismatches between the public file and the ground truth.
        matched: the number of records that have ground truth.
    """

    records: list[dict[str, Any]]
    problems: list[Problem]
    matched: int


def merge_files(public_file: Path, truth_file: Path, *, partial: bool = False) -> Merged:
    """Merge a public task file with its ground truth by `instance_id`.

    The three solution fields in each record get their values from the ground truth, or [] if the ground truth
    has no value. The same applies to the follow-up's fields. If the public record has no follow-up, the
    follow-up from the ground truth is copied.

    Args:
        public_file: the public task file.
        truth_file: the file with the ground truth.
        partial: whether public records may lack ground truth.

    Raises:
        InputError: a file cannot be read, a record has no id, or an id occurs twice.
    """
    public = _by_id(public_file)
    truth = _by_id(truth_file)
    problems = [
        Problem(name, f"it is in {truth_file.name}, but not in {public_file.name}")
        for name in truth
        if name not in public
    ]
    if not partial:
        problems += [
            Problem(name, f"no ground truth in {truth_file.name}", truth_missing=True)
            for name in public
            if name not in truth
        ]
    records = [_merge(row, truth[name]) if name in truth else row for name, row in public.items()]
    return Merged(records, problems, matched=sum(name in truth for name in public))


def _by_id(path: Path) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(read_records(path), 1):
        name = row.get("instance_id")
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{path}: record {number} has no instance_id")
        if name in rows:
            raise InputError(f"{path}: {name} occurs twice")
        rows[name] = row
    return rows


def _merge(row: dict[str, Any], truth: Mapping[str, Any]) -> dict[str, Any]:
    merged = row | {key: truth.get(key) or [] for key in _KEYS}
    child_end = truth.get("follow_up")
    if isinstance(child_end, Mapping):
        ours = row.get("follow_up")
        if isinstance(ours, Mapping) and ours:
            merged["follow_up"] = dict(ours) | {key: child_end.get(key) or [] for key in _KEYS}
        else:
            merged["follow_up"] = dict(child_end)
    return merged
