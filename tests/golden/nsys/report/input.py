"""Reports as Nsight Systems writes them, bytes of its own: one that was exported, one that was not."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

Path("input").mkdir()
Path("input/report1.nsys-rep").write_bytes(bytes(range(256)) * 8)
Path("input/exported.nsys-rep").write_bytes(bytes(range(256)) * 8)
export = NsysExport("input/exported.sqlite")
export.kernel(export.process(4711), "gemm", 1000, 2000)
export.close()
