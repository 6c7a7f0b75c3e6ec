"""A report that was not exported, as Nsight Systems writes it: bytes of its own."""
from pathlib import Path

Path("input").mkdir()
Path("input/report1.nsys-rep").write_bytes(bytes(range(256)) * 8)
