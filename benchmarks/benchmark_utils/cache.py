"""What is computed once and kept on disk: parsed data and reference solutions."""

from pathlib import Path

from joblib import Memory

FOLDER = Path(__file__).resolve().parents[1] / "__cache__" / "atomsieve"

memory = Memory(FOLDER, verbose=0)
