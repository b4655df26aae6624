"""Run by `bench.opening` in a process of its own: open a store, answer one recall, say what each step took.

python -m bench.first_answer FOLDER TENANT AGENT PURPOSE SUBJECT QUESTION
"""

import json
import sys
from time import perf_counter

from bench.processes import resident_bytes


def main(path: str, tenant: str, agent: str, purpose: str, subject: str, question: str) -> None:
    """Open, ask, and say at once what it took."""
    started = perf_counter()
    from tenure import Tenure  # noqa: PLC0415 -- the import is one of the steps that are timed

    imported = perf_counter()
    with Tenure.open(path) as store:
        opened = perf_counter()
        found = store.session(tenant=tenant, agent=agent, purpose=purpose).recall(question, subject=subject)
        answered = perf_counter()
        said = {
            "import_seconds": imported - started,
            "open_seconds": opened - imported,
            "recall_seconds": answered - opened,
            "found": len(found),
            "resident_bytes": resident_bytes(),
        }
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
