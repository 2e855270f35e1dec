"""What the trainings of this book came to, as files: logs, scores and cards (chapters 9 and 10)."""

from pathlib import Path

#: A folder for each training, with its configuration, ``run.toml``, the log and the scores of each
#: seed, and its card.
RUNS = Path(__file__).parent / "runs"
#: What was to be reached, and what others have published for the same work, in TOML.
MARKS = Path(__file__).parent / "marks.toml"
