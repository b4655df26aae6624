"""The worked example of the tool guard runs as its page says (SPEC X2)."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "supplier_payments.py"
SECONDS_MAX = 60


def test_the_payment_goes_to_the_supplier_and_the_story_is_told(tmp_path: Path) -> None:
    """SPEC X1, X2: offline, without a model, without warnings, and every step holds."""
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLE)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "Everything held."
    assert "found_in_memory" in done.stdout
    assert "FAIL" not in done.stdout


def test_the_example_fails_where_the_guard_is_missing(tmp_path: Path) -> None:
    """SPEC X2: its steps are checked, so it would notice."""
    text = EXAMPLE.read_text(encoding="utf-8")
    unguarded = text.replace('tools={"pay_supplier"', 'tools={"pay_somebody"')
    (tmp_path / "unguarded.py").write_text(unguarded, encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "unguarded.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )

    assert unguarded != text
    assert done.returncode == 1
    assert "FAIL the call is refused" in done.stdout
