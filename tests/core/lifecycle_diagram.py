"""The picture of the life cycle; ``python -m tests.core.lifecycle_diagram`` prints it from the table."""

import sys

from tenure.core.memory import LIFE_CYCLE
from tenure.core.vocabulary import Status


def diagram() -> str:
    """The life-cycle table as a mermaid state diagram, one line for each legal step."""
    leaving = {status for status, _ in LIFE_CYCLE}
    arrows = (f"    {status} --> {following}: {step}" for (status, step), following in LIFE_CYCLE.items())
    ends = (f"    {status} --> [*]" for status in Status if status not in leaving)
    lines = ("```mermaid", "stateDiagram-v2", f"    [*] --> {Status.PROPOSED}", *sorted(arrows), *ends, "```")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(diagram() + "\n")
