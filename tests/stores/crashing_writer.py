"""A process that writes from several threads, says what was acknowledged, and waits to be killed.

    python -m tests.stores.crashing_writer ADDRESS

Each line on its standard output is one acknowledgement: an id, and the content that it stands for. A line
is one write to the pipe, and it is written after the store has answered.
"""

import itertools
import os
import sys
import threading
from uuid import UUID

from tests.stores.engine import opened_at
from tests.usecases.asking import BOT, proposal, question

from tenure.core.memory import Memory
from tenure.usecases.pipeline import Pipeline
from tenure.usecases.remembering import REMEMBER
from tenure.usecases.retrieval import RECALL

WRITERS = 8


def say(memory_id: UUID, content: str) -> None:
    """One acknowledgement, whole or not at all."""
    os.write(sys.stdout.fileno(), f"{memory_id} {content}\n".encode())


def write(pipeline: Pipeline, content: str, subject: str, supersedes: UUID | None = None) -> Memory:
    """One memory, acknowledged."""
    command = proposal(content, subject=subject, supersedes=supersedes)
    memory = pipeline.run(REMEMBER, BOT, command, idempotency_key=content).memory
    assert memory is not None
    say(memory.id, content)
    return memory


def write_for_ever(pipeline: Pipeline, writer: int) -> None:
    """A memory of a subject that is new from time to time, then its correction, then a question."""
    for number in itertools.count():
        name = f"process {os.getpid()} writer {writer} number {number}"
        subject = f"{os.getpid()}-{writer}-{number // 5}"
        memory = write(pipeline, f"{name} first", subject)
        write(pipeline, f"{name} corrected", subject, memory.id)
        if number % 3 == 0:
            pipeline.run(RECALL, BOT, question(subject=subject))


def main() -> None:
    """Write until somebody kills the process."""
    pipeline = opened_at(sys.argv[1]).pipeline
    threads = [
        threading.Thread(target=write_for_ever, args=(pipeline, writer), daemon=True)
        for writer in range(WRITERS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main()
