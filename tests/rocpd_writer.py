"""Writes databases as rocprofv3 does (--output-format rocpd), after the schema of rocprofiler-sdk (docs/formats/rocpd.md)."""
import json
import sqlite3

KEY = "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, guid TEXT NOT NULL"
TABLES = {
    "rocpd_metadata": "id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, tag TEXT NOT NULL, value TEXT NOT NULL",
    "rocpd_string": f"{KEY}, string TEXT NOT NULL",
    "rocpd_info_node": f"{KEY}, hash BIGINT, machine_id TEXT, hostname TEXT",
    "rocpd_info_process": f"{KEY}, nid INTEGER NOT NULL, ppid INTEGER, pid INTEGER NOT NULL, command TEXT, environment JSONB",
    "rocpd_info_thread": f"{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, name TEXT",
    "rocpd_info_agent": f"{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, type TEXT, absolute_index INTEGER, logical_index INTEGER, type_index INTEGER, name TEXT, product_name TEXT",
    "rocpd_info_kernel_symbol": f"{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, kernel_name TEXT, display_name TEXT",
    "rocpd_event": f"{KEY}, category_id INTEGER, stack_id INTEGER, parent_stack_id INTEGER, correlation_id INTEGER",
    "rocpd_region": f"{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER NOT NULL, start BIGINT NOT NULL, end BIGINT NOT NULL, name_id INTEGER NOT NULL, event_id INTEGER",
    "rocpd_kernel_dispatch": f"""{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, agent_id INTEGER NOT NULL, kernel_id INTEGER NOT NULL,
        dispatch_id INTEGER NOT NULL, queue_id INTEGER NOT NULL, stream_id INTEGER NOT NULL, start BIGINT NOT NULL, end BIGINT NOT NULL, private_segment_size INTEGER,
        group_segment_size INTEGER, workgroup_size_x INTEGER NOT NULL, workgroup_size_y INTEGER NOT NULL, workgroup_size_z INTEGER NOT NULL,
        grid_size_x INTEGER NOT NULL, grid_size_y INTEGER NOT NULL, grid_size_z INTEGER NOT NULL, region_name_id INTEGER, event_id INTEGER""",
    "rocpd_memory_copy": f"""{KEY}, nid INTEGER NOT NULL, pid INTEGER NOT NULL, tid INTEGER, start BIGINT NOT NULL, end BIGINT NOT NULL, name_id INTEGER NOT NULL,
        dst_agent_id INTEGER, src_agent_id INTEGER, size INTEGER NOT NULL, queue_id INTEGER, stream_id INTEGER, event_id INTEGER""",
}
CPU, GPU = 1, 2  # rows of rocpd_info_agent


class Session:
    """One recording of one process, whose tables end in `suffix`."""

    def __init__(self, path, suffix="_0b1c", pid=4711, environment=None, host="node1", page_size=1024):
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA page_size = {page_size}")
        self.db.execute("BEGIN")
        self.suffix, self.texts, self.kernels = suffix, {}, {}
        for table, columns in TABLES.items():
            self.db.execute(f"CREATE TABLE `{table}{suffix}` ({columns})")
            self.db.execute(f"CREATE VIEW IF NOT EXISTS `{table}` AS SELECT * FROM `{table}{suffix}`")
        self.add("rocpd_metadata", tag="schema_version", value="3")
        self.add("rocpd_info_node", hostname=host)
        self.add("rocpd_info_process", nid=1, pid=pid, command="python train.py", environment=json.dumps(environment or {}))
        self.add("rocpd_info_thread", nid=1, pid=1, tid=pid, name="python")
        self.add("rocpd_info_agent", nid=1, pid=1, type="CPU", logical_index=0, type_index=0, name="EPYC", product_name="AMD EPYC")
        self.add("rocpd_info_agent", nid=1, pid=1, type="GPU", logical_index=1, type_index=0, name="gfx942", product_name="AMD Instinct MI300X")

    def add(self, table, **row):
        if table != "rocpd_metadata":
            row["guid"] = self.suffix
        return self.db.execute(f"INSERT INTO `{table}{self.suffix}` ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())).lastrowid

    def text(self, text):
        if text not in self.texts:
            self.texts[text] = self.add("rocpd_string", string=text)
        return self.texts[text]

    def event(self, category, stack):
        return self.add("rocpd_event", category_id=self.text(category), stack_id=stack, parent_stack_id=0, correlation_id=0)

    def region(self, name, start, end, category="HIP_RUNTIME_API", stack=0):
        self.add("rocpd_region", nid=1, pid=1, tid=1, start=start, end=end, name_id=self.text(name), event_id=self.event(category, stack))

    def kernel(self, name, start, end, stack, stream=0, grid=(1024, 1, 1), group=(256, 1, 1)):
        if name not in self.kernels:
            self.kernels[name] = self.add("rocpd_info_kernel_symbol", nid=1, pid=1, kernel_name=f"_Z{name}.kd", display_name=name)
        self.add("rocpd_kernel_dispatch", nid=1, pid=1, tid=1, agent_id=GPU, kernel_id=self.kernels[name], dispatch_id=1, queue_id=1, stream_id=stream, start=start, end=end,
                 group_segment_size=512, workgroup_size_x=group[0], workgroup_size_y=group[1], workgroup_size_z=group[2], grid_size_x=grid[0], grid_size_y=grid[1],
                 grid_size_z=grid[2], event_id=self.event("KERNEL_DISPATCH", stack))

    def copy(self, start, end, size, stack, source=CPU, target=GPU):
        self.add("rocpd_memory_copy", nid=1, pid=1, tid=1, start=start, end=end, name_id=self.text("MEMORY_COPY_HOST_TO_DEVICE"), dst_agent_id=target, src_agent_id=source,
                 size=size, stream_id=0, event_id=self.event("MEMORY_COPY", stack))

    def close(self):
        self.db.execute("COMMIT")
        self.db.close()
