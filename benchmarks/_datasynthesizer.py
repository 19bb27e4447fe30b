"""DataSynthesizer's PrivBayes from PyPI, in an environment of its own, against the epsilon it is asked for.

    python -m benchmarks._datasynthesizer [--fresh-seeds]

Its functions seed the noise with 0 unless told otherwise, and read the domain off the data. Two pairs: one whose target has
values of its own (the domain gives it away at once), one whose target has none (then only the seed does). The result is
recorded in docs/explanation/epsilon-audit.md. Where the package cannot be installed this says so and stops.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from unmask.audits.epsilon.audit import audit_epsilon
from unmask.generators import get
from unmask.generators.claim import Claim, Neighbours

PLACE = Path(tempfile.gettempdir()) / "unmask-datasynthesizer"
PAIRS = ("worst-case:columns=3,rows=50", "worst-case:columns=3,rows=50,mixed=true")
PROGRAM = """
import sys, tempfile, warnings
warnings.simplefilter("ignore")
from DataSynthesizer.DataDescriber import DataDescriber
from DataSynthesizer.DataGenerator import DataGenerator

train, rows, out, *seed = sys.argv[1:]
seeds = {"seed": int(seed[0]) % 2**32} if seed else {}
describer, generator = DataDescriber(), DataGenerator()
describer.describe_dataset_in_correlated_attribute_mode(dataset_file=train, epsilon=1, k=1, **seeds)
with tempfile.NamedTemporaryFile(suffix=".json") as description:
    describer.save_dataset_description_to_file(description.name)
    generator.generate_dataset_in_correlated_attribute_mode(int(rows), description.name, **seeds)
generator.save_synthetic_data(out)
"""


def environment() -> Path | None:
    """The interpreter of an environment that has DataSynthesizer; None, with a message, if it cannot be made."""
    python = PLACE / "bin" / "python"
    if not python.exists():
        venv.create(PLACE, with_pip=True)
    try:
        subprocess.run([python, "-m", "pip", "install", "-q", "DataSynthesizer"], check=True, capture_output=True)
        subprocess.run([python, "-c", "import DataSynthesizer.DataDescriber"], check=True, capture_output=True)
    except subprocess.CalledProcessError as problem:
        print(f"  skipped: DataSynthesizer cannot be installed here ({problem.stderr.decode()[-200:].strip()})")
        return None
    return python


def main(fresh_seeds: bool = False, runs: int = 60) -> None:
    """Print the verdict on epsilon 1, replace-one neighbours, and how long it took."""
    python = environment()
    if python is None:
        return
    program = PLACE / "synthesize.py"
    program.write_text(PROGRAM)
    command = f"command: {python} {program} {{train}} {{rows}} {{out}}" + (" {seed}" if fresh_seeds else "")
    print(f"  {'a fresh seed for each run' if fresh_seeds else 'the default seed'}")
    for pairs in PAIRS:
        start = time.perf_counter()
        result = audit_epsilon(
            get(command),
            claim=Claim(1.0, neighbours=Neighbours.REPLACE),
            pairs=pairs,
            runs=runs,
            synthetic_rows=500,
            controls=False,
        )
        print(f"  {pairs}: {result.findings[0].title}")
        for note in result.notes[1:]:
            print(f"    {note}")
        print(f"    {time.perf_counter() - start:.0f} s, {result.failed_tasks} runs failed", flush=True)


if __name__ == "__main__":
    main(fresh_seeds="--fresh-seeds" in sys.argv)
