"""debrief for Python: what happened in a PyTorch job, its findings and its tables.

    import debrief

    run = debrief.load("job_folder")      # or a report (debrief_out), its run.duckdb, Parquet tables, shards of `debrief map`
    print(run.verdict)                    # what happened, and who is to blame
    for finding in run.findings: ...
    run.table("comm_op").to_pandas()      # or .to_polars(), .to_arrow(), .rows(); any consumer of Arrow's C stream
    run.sql("SELECT rank, count(*) AS calls FROM comm_op GROUP BY rank")

It needs Python alone: tables come from the DuckDB library beside debrief, as Arrow (docs/python.md).
"""
from ._errors import Error
from ._findings import Evidence, Finding, Group, Job, Source, Verdict
from ._load import load
from ._run import Run
from ._table import Table
from ._version import __version__

__all__ = ["Error", "Evidence", "Finding", "Group", "Job", "Run", "Source", "Table", "Verdict", "__version__", "load"]
