"""Writes a database of which pages are overwritten, one that was cut, and one with times that make no sense."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
from rocpd_writer import Session  # noqa: E402

PAGE = 1024


def write(path, rank):
    session = Session(path, environment={"RANK": str(rank)}, page_size=PAGE)
    for number in range(300):
        session.kernel("gemm", number * 1000, number * 1000 + 500, number + 1)
    session.kernel("odd", 2**63 - 1, -2**63, 2**63 - 1, stream=-1, grid=(2**62, 2**62, 9), group=(0, -5, 2**40))
    session.region("", 10, 5)
    session.close()
    return bytearray(Path(path).read_bytes())


Path("input").mkdir()
pages = write("input/rank0.db", 0)
middle = len(pages) // PAGE // 2
for page in range(middle, middle + 4):  # of events and kernels
    pages[page * PAGE:(page + 1) * PAGE] = b"\xa5" * PAGE
Path("input/rank0.db").write_bytes(pages)
whole = write("input/rank1.db", 1)
Path("input/rank1.db").write_bytes(whole[:len(whole) * 3 // 4])
