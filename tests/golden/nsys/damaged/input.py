"""Writes an export of which some pages are overwritten, and one that is cut: what is left is read."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from nsys_writer import NsysExport  # noqa: E402

PAGE = 1024


def write(path, rank):
    export = NsysExport(path, page_size=PAGE, environment={"RANK": rank})
    process = export.process(6000)
    for number in range(400):
        export.kernel(process, f"kernel_{number % 5}", number * 1000, number * 1000 + 600, correlation=number)
    export.close()
    return bytearray(Path(path).read_bytes())


Path("input").mkdir()
pages = write("input/rank0.sqlite", 0)
for page in range(30, 34):  # of the kernels
    pages[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
Path("input/rank0.sqlite").write_bytes(pages)
whole = write("input/rank1.sqlite", 1)
Path("input/rank1.sqlite").write_bytes(whole[:len(whole) * 2 // 3])
whole = write("input/rank2.sqlite", 2)
whole[18:20] = b"\2\2"  # as a database in write-ahead mode that was copied without its log
Path("input/rank2.sqlite").write_bytes(whole)
