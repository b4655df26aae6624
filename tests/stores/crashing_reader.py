"""A process that reads under durable reads, says what was answered, and waits to be killed.

    python -m tests.stores.crashing_reader ADDRESS

Each line on its standard output is one answer, written after it was given: the word for what was asked.
"""

import os
import sys
import threading

from tests.stores.engine import opened_at
from tests.usecases.asking import BOT, question, written

from tenure.config import Evidence, Settings
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.reading import GET, LIST, Get, ListMemories
from tenure.usecases.retrieval import RECALL

READERS = 4


def say(word: str) -> None:
    """One answer, whole or not at all."""
    os.write(sys.stdout.fileno(), f"{word}\n".encode())


def read_for_ever(pipeline: Pipeline) -> None:
    """One memory by its id, as a list, and as an answer to a question."""
    memory = written(pipeline)
    while True:
        pipeline.run(GET, BOT, Get(memory_id=memory.id))
        say("get")
        pipeline.run(LIST, BOT, ListMemories())
        say("list")
        pipeline.run(RECALL, BOT, question())
        say("recall")


def main() -> None:
    """Read until somebody kills the process."""
    settings = Settings(evidence=Evidence(reads="durable"))
    pipeline = opened_at(sys.argv[1], settings).pipeline
    threads = [threading.Thread(target=read_for_ever, args=(pipeline,), daemon=True) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
