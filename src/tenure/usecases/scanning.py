"""Having a text scanned: the scanners of this node, as one thing with one version (SPEC L3-L5, R5).

Laws: the answer is findings, always; a scanner that fails or is late is one finding of kind failure, which
never admits; what no scanner finds proves nothing (SPEC M5b). Local scanners run where they are asked. Remote
ones are asked about what is written, before it takes its turn, so that no other writer waits for them.
"""

from collections.abc import Sequence

from tenure.core.scanning import Finding, scan
from tenure.core.scanning.matching import Scanner
from tenure.core.scanning.running import DEFAULT_SCANNERS, Limit, version_of
from tenure.usecases.remote_scanning import RemoteScanning
from tenure.usecases.scanning_ports import STANDING, RemoteScanner, Watches


class Scanning:
    """The scanners that a node runs, and those that it asks."""

    def __init__(
        self,
        scanners: Sequence[Scanner] = DEFAULT_SCANNERS,
        *,
        of_whole_texts: Sequence[Scanner] = (),
        remote: Sequence[RemoteScanner] = (),
        local_seconds_max: float = 1.0,
        remote_seconds_max: float = 3.0,
        together_max: int = 16,
        watches: Watches = STANDING,
    ) -> None:
        self._across = tuple(scanners)
        self._scanners = *self._across, *of_whole_texts
        self._limit = Limit(watches.busy, local_seconds_max)
        self._remote = RemoteScanning(
            remote, seconds_max=remote_seconds_max, together_max=together_max, passed=watches.passed
        )
        self.asks_outside = bool(remote)
        """Whether anything that is written leaves this process."""
        names = sorted(f"{one.name}/{one.version}" for one in remote)
        self.version = "+".join((version_of(self._scanners), *names))
        """Changes whenever the answer may: verdicts of another version are asked for again (SPEC R5)."""

    def findings(self, text: str) -> tuple[Finding, ...]:
        """Everything that the local scanners find in a text; never raises."""
        return scan(text, self._scanners, limit=self._limit)

    def findings_across(self, text: str) -> tuple[Finding, ...]:
        """What they find in several contents that were joined; never raises.

        A scanner that judges a text as a whole is left out: what it says of ten contents is true of none.
        """
        return scan(text, self._across, limit=self._limit)

    def from_outside(self, texts: Sequence[str]) -> list[tuple[Finding, ...]]:
        """Everything that the remote scanners find in each of the texts; never raises."""
        return self._remote.findings(texts)

    def close(self) -> None:
        """Let go of the remote scanners."""
        self._remote.close()
