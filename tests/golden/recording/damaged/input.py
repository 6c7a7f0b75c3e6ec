"""Writes recordings with a record that is none, an id that nobody spelt, times that run backwards, a cut chunk, and half a header."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from recording_writer import CHUNK, Recording  # noqa: E402

Path("input").mkdir()
recording = Recording(rank=0)
with recording.thread(1) as thread:
    thread.span("good", 1000, 100)
    thread.chunk.words.append(0)
    thread.span("behind", 2000, 100)
with recording.thread(2) as thread:
    thread.span("also_good", 3000, 100)
    thread.chunk.words += [1 | 3 << 8 | 9999 << 16, 4000, 100]
    thread.span("backwards", 5000, (1 << 64) - 7)
    thread.end(6000)
recording.write("input/wrong.dbr")
data = recording.bytes()
Path("input/cut.dbr").write_bytes(data[:-CHUNK + 64 + 24])
Path("input/half.dbr").write_bytes(data[:1000])
Path("input/later.dbr").write_bytes(data[:8] + b"\x02" + data[9:])
