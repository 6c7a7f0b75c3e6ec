"""Writes exports of Nsight Systems as `nsys export --type sqlite` does, after the schema of the real ones (docs/formats/nsys.md).

    export = NsysExport(path, schema="3.24.0")
    process = export.process(4711, "python", threads={4711: "python"})
    export.kernel(process, "gemm", start=1000, end=2000, stream=7, correlation=5)
    export.call(process, 4711, "cudaLaunchKernel_v7000", start=900, end=950, correlation=5)
    export.close()

Used by the goldens, the conformance tests and the benchmark; nothing of debrief's is used here.
"""
import sqlite3

DEVICE = """start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, {green}streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER"""
TABLES = {
    "StringIds": "id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL",
    "ProcessStreams": "globalPid INTEGER NOT NULL, filenameId INTEGER NOT NULL, contentId INTEGER NOT NULL",
    "TARGET_INFO_SYSTEM_ENV": "globalVid INTEGER, devStateName TEXT NOT NULL, name TEXT NOT NULL, nameEnum INTEGER NOT NULL, value TEXT NOT NULL",
    "TARGET_INFO_SESSION_START_TIME": "utcEpochNs INTEGER, utcTime TEXT, localTime TEXT",
    "PROCESSES": "globalPid INTEGER, pid INTEGER, name TEXT",
    "DIAGNOSTIC_EVENT": "timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL, text TEXT NOT NULL, globalPid INTEGER",
    "PROFILER_OVERHEAD": "start INTEGER NOT NULL, end INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL",
    "OSRT_API": """start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, nameId INTEGER NOT NULL,
        returnValue INTEGER NOT NULL, nestingLevel INTEGER, callchainId INTEGER NOT NULL""",
    "CUPTI_ACTIVITY_KIND_RUNTIME": """start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER, correlationId INTEGER,
        nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER""",
    "CUPTI_ACTIVITY_KIND_KERNEL": DEVICE + """, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
        cacheConfig INTEGER, registersPerThread INTEGER NOT NULL, gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
        blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL,
        localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL, gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER,
        graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER{graph}""",
    "CUPTI_ACTIVITY_KIND_MEMCPY": DEVICE + """, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER,
        srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER""",
    "CUPTI_ACTIVITY_KIND_MEMSET": DEVICE + ", value INTEGER NOT NULL, bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": DEVICE + ", syncType INTEGER NOT NULL, eventId INTEGER NOT NULL",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": DEVICE + ", graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL",
    "NVTX_EVENTS": """start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER, text TEXT,
        globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER, int64Value INTEGER, doubleValue REAL,
        uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER, jsonText TEXT""",
    "MPI_RANKS": "globalTid INTEGER, rank INTEGER",
    "ThreadNames": "nameId INTEGER NOT NULL, priority INTEGER, globalTid INTEGER",
    "TARGET_INFO_GPU": """vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, totalMemory INTEGER, smCount INTEGER, uuid TEXT,
        cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER""",
    "TARGET_INFO_CUDA_CONTEXT_INFO": """nullStreamId INTEGER NOT NULL, hwId INTEGER NOT NULL, vmId INTEGER NOT NULL, processId INTEGER NOT NULL,
        deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL""",
    "META_DATA_CAPTURE": "name TEXT NOT NULL, value TEXT",
    "META_DATA_EXPORT": "name TEXT NOT NULL, value TEXT",
}
OLD_NAMES = {"META_DATA_EXPORT": "EXPORT_META_DATA"}
MARK, PUSH_POP, START_END, DOMAIN, THREAD = 34, 59, 60, 75, 39


class NsysExport:
    def __init__(self, path, schema="3.24.0", page_size=1024, epoch_ns=1_790_000_000_000_000_000, host="node1", environment=None):
        self.major, self.minor = (int(part) for part in schema.split(".")[:2])
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.execute(f"PRAGMA page_size = {page_size}")
        self.db.execute("PRAGMA journal_mode = OFF")
        self.db.execute("BEGIN")
        self.strings = {}
        self.made = set()
        self.inserts = {}  # SQL by table and columns
        self.processes = {}
        self.text_id("")
        if self.major < 3:  # 2.x wrote all tables, empty or not
            for table in TABLES:
                self.make(table)
        for name, value in {"EXPORT_PRODUCT_NAME": "NVIDIA Nsight Systems", "EXPORT_PRODUCT_VERSION": "2025.5.2", "EXPORT_SCHEMA_VERSION": schema,
                            "EXPORT_CONFIG_TIME_SHIFT": "0"}.items():
            self.add("META_DATA_EXPORT", name=name, value=value)
        if epoch_ns is not None:
            self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=epoch_ns, utcTime="", localTime="")
        self.add("TARGET_INFO_SYSTEM_ENV", devStateName="", name="Hostname", nameEnum=0, value=host)
        for name, value in (environment or {}).items():
            self.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value=f'{name}="{value}"')

    # ---- Rows.

    def make(self, table):
        if table not in self.made:
            self.made.add(table)
            green = "greenContextId INTEGER, " if (self.major, self.minor) >= (3, 13) else ""
            graph = ", graphId INTEGER" if (self.major, self.minor) >= (3, 24) else ""
            self.db.execute(f"CREATE TABLE {self.name(table)} ({TABLES[table].format(green=green, graph=graph)})")

    def name(self, table):
        return OLD_NAMES.get(table, table) if self.major < 3 else table

    def add(self, table, **row):
        self.make(table)
        sql = self.inserts.get((table, *row))
        if sql is None:
            columns = ", ".join(f'"{column}"' for column in row)
            sql = self.inserts[(table, *row)] = f"INSERT INTO {self.name(table)} ({columns}) VALUES ({', '.join('?' * len(row))})"
        self.db.execute(sql, tuple(row.values()))

    def text_id(self, text):
        if text not in self.strings:
            self.strings[text] = len(self.strings)
            self.add("StringIds", id=self.strings[text], value=text)
        return self.strings[text]

    # ---- What was recorded.

    def process(self, pid, name="python", threads=None, device=0, context=True):
        """Returns the number that events of the process carry."""
        global_pid = 1 << 48 | pid << 24
        self.add("PROCESSES", globalPid=global_pid, pid=pid, name=name)
        for tid, thread in (threads or {pid: name}).items():
            self.add("ThreadNames", nameId=self.text_id(thread), priority=20, globalTid=global_pid | tid)
        if context:
            self.add("TARGET_INFO_CUDA_CONTEXT_INFO", nullStreamId=7, hwId=0, vmId=1, processId=pid, deviceId=device, contextId=1)
        return global_pid

    def gpu(self, gpu, device, name="NVIDIA H200", memory=150_754_820_096, sms=132, capability=(9, 0)):
        self.add("TARGET_INFO_GPU", vmId=1 << 48, id=gpu, name=name, busLocation="0000:c1:00.0", totalMemory=memory, smCount=sms, uuid="", cuDevice=device,
                 computeMajor=capability[0], computeMinor=capability[1])

    def printed(self, process, text, stream="stdout"):
        pid = process >> 24 & 0xffffff
        self.add("ProcessStreams", globalPid=process, filenameId=self.text_id(f"/tmp/nvidia/nsight_systems/streams/pid_{pid}_{stream}.log"),
                 contentId=self.text_id(text))

    def device_row(self, table, process, start, end, stream, correlation, device, **more):
        self.add(table, start=start, end=end, deviceId=device, contextId=1, streamId=stream, correlationId=correlation, globalPid=process, **more)

    def kernel(self, process, name, start, end, stream=7, correlation=None, device=0, grid=(1, 1, 1), block=(1, 1, 1), registers=32, shared=0, node=None):
        number = self.text_id(name)
        self.device_row("CUPTI_ACTIVITY_KIND_KERNEL", process, start, end, stream, correlation, device, demangledName=number, shortName=number,
                        registersPerThread=registers, gridX=grid[0], gridY=grid[1], gridZ=grid[2], blockX=block[0], blockY=block[1], blockZ=block[2],
                        staticSharedMemory=shared, dynamicSharedMemory=0, localMemoryPerThread=0, localMemoryTotal=0, gridId=1, graphNodeId=node)

    def copy(self, process, start, end, size, kind=1, source=0, target=2, stream=7, correlation=None, device=0):
        self.device_row("CUPTI_ACTIVITY_KIND_MEMCPY", process, start, end, stream, correlation, device, bytes=size, copyKind=kind, srcKind=source, dstKind=target)

    def fill(self, process, start, end, size, stream=7, correlation=None, device=0, memory=2):
        self.device_row("CUPTI_ACTIVITY_KIND_MEMSET", process, start, end, stream, correlation, device, value=0, bytes=size, memKind=memory)

    def sync(self, process, start, end, kind, stream=4294967295, correlation=None, device=0):
        self.device_row("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", process, start, end, stream, correlation, device, syncType=kind, eventId=4294967295)

    def graph(self, process, graph, start, end, stream=7, correlation=None, device=0):
        self.device_row("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", process, start, end, stream, correlation, device, graphId=graph, graphExecId=graph)

    def call(self, process, tid, name, start, end, correlation=None, returned=0, driver=False):
        self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=start, end=end, eventClass=int(driver), globalTid=process | tid, correlationId=correlation,
                 nameId=self.text_id(name), returnValue=returned)

    def system_call(self, process, tid, name, start, end, kind=27):
        self.add("OSRT_API", start=start, end=end, eventClass=kind, globalTid=process | tid, nameId=self.text_id(name), returnValue=0, nestingLevel=0,
                 callchainId=0)

    def overhead(self, process, tid, name, start, end):
        self.add("PROFILER_OVERHEAD", start=start, end=end, globalTid=process | tid, nameId=self.text_id(name), returnValue=0)

    def nvtx(self, process, tid, text, start, end, kind=PUSH_POP, domain=0, by_id=False, json=None):
        self.add("NVTX_EVENTS", start=start, end=end, eventType=kind, text=None if by_id else text, textId=self.text_id(text) if by_id else None,
                 globalTid=process | tid, domainId=domain, jsonText=json)

    def close(self):
        self.db.execute("COMMIT")
        self.db.close()
