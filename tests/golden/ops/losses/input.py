"""Writes a ring that lost its oldest records, a recording that had no room, and one whose wall clock was set back by an hour."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from recording_writer import Recording  # noqa: E402

SECOND = 1_000_000_000
Path("input").mkdir()
ring = Recording(rank=0)
with ring.thread(1) as thread:
    thread.loss(5000, SECOND, 3 * SECOND, 1)
    thread.end(3 * SECOND + 5)
    thread.span("kept", 4 * SECOND, 1000)
ring.write("input/ring.dbr")

full = Recording(rank=1)
full.policy, full.lost_names, full.stopped, full.closed = 1, 3, 28, 1
with full.thread(1) as thread:
    thread.begin("cut_off", SECOND)
    thread.chunk.dropped = 70
with full.thread(2) as thread:
    thread.span("late", 5 * SECOND, SECOND)
full.write("input/full.dbr")

clock = Recording(rank=2)
with clock.thread(1) as thread:
    thread.span("before", SECOND, SECOND)
with clock.thread(2) as thread:
    thread.chunk.clock = (2 * SECOND, 2 * SECOND, clock.opened[2] - 3598 * SECOND)
    thread.span("after", 3 * SECOND, SECOND)
clock.write("input/clock.dbr")
