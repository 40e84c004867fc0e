"""Many people at once: all are paired, and every message arrives once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from web_browser import Browser, Chat, served

from birdenv.studies.study._config import StudyConfig

pytestmark = pytest.mark.slow
PEOPLE, MESSAGES = 50, 5


def test_fifty_who_come_at_once_are_paired_and_lose_nothing(tmp_path: Path) -> None:
    with served(tmp_path, "mutual-friends", StudyConfig(), max_events=1000) as (study, port):
        browsers = [Browser(port) for _ in range(PEOPLE)]
        for browser in browsers:
            browser.enter()
        heard: dict[int, list[str]] = {}

        def talk(place: int) -> None:
            with Chat(browsers[place]) as chat:
                chat.wait_turn()
                for number in range(MESSAGES):
                    chat.play("message", f"{place}/{number}")
                chat.wait_for(2 * MESSAGES)
                heard[place] = [each["data"] for each in chat.events]

        threads = [threading.Thread(target=talk, args=(place,)) for place in range(PEOPLE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert len(heard) == PEOPLE
        assert len(study.store.dialogues()) == PEOPLE // 2
    for place, words in heard.items():
        assert len(set(words)) == len(words) == 2 * MESSAGES
        assert [word for word in words if word.startswith(f"{place}/")] == [
            f"{place}/{number}" for number in range(MESSAGES)
        ]
