"""The recordings of recording/losses, for debrief ops."""
import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parents[2] / "recording/losses/input.py"))
