"""Writes recordings (.dbr) by hand, byte for byte after docs/formats/recording.md, with times and ids of the caller's choice.

    recording = Recording(rank=3, pid=4711)
    with recording.thread(4711, "main") as main:
        main.op("matmul", 1000, 500, device="cuda:0", inputs=[[64, 128]], output=[64, 10], dtype=F32)
        main.begin("train_step", 2000)
    recording.write("run.dbr")

A second writer, apart from the one in src/recorder: what both get wrong must be wrong in the description. Ticks are
nanoseconds since OPENED unless told otherwise.
"""
import struct

OPENED_NS = 1_700_000_000_000_000_000  # on the wall clock
CHUNK, HEADER = 65536, 4096
F32, BF16 = 9, 8
MONOTONIC, TSC = 1, 2


def word(kind, words, name=0, track=0, flags=0):
    return kind | flags << 6 | words << 8 | name << 16 | track << 40


class Chunk:
    def __init__(self, kind, tid, sequence, ticks, mono, wall):
        self.kind, self.tid, self.sequence, self.clock = kind, tid, sequence, (ticks, mono, wall)
        self.words, self.dropped, self.generation, self.overwritten = [], 0, 0, 0

    def bytes(self):
        payload = struct.pack(f"<{len(self.words)}Q", *self.words)
        head = struct.pack("<IHHIIQ3QQQ", 0x43524244, self.kind, 0, self.tid, self.generation, self.sequence, *self.clock,
                           self.overwritten << 16 | len(payload), self.dropped)
        assert len(head) == 64 and len(payload) <= CHUNK - 64
        return (head + payload).ljust(CHUNK, b"\0")


class Thread:
    """Records of one thread. Times are ticks."""

    def __init__(self, recording, tid, name=None):
        self.recording, self.tid = recording, tid
        self.chunk = recording.new_chunk(1, tid)
        if name:
            recording.dictionary.words += [word(17, 2, recording.name(name)), tid]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def emit(self, kind, values, name=None, device=None, flags=0):
        ids = [self.recording.name(text) if text is not None else 0 for text in (name, device)]
        self.chunk.words += [word(kind, 1 + len(values), ids[0], ids[1], flags), *values]

    def span(self, name, start, duration, device=None):
        self.emit(1, [start, duration], name, device)

    def begin(self, name, time, device=None):
        self.emit(2, [time], name, device)

    def end(self, time):
        self.emit(3, [time])

    def op(self, name, start, duration, device=None, **info):
        flags, words = packed_op(**info)
        self.emit(4, [start, duration, *words], name, device, flags)

    def end_op(self, time, **info):
        flags, words = packed_op(**info)
        self.emit(5, [time, *words], flags=flags)

    def instant(self, name, time):
        self.emit(6, [time], name)

    def counter(self, name, time, value, device=None):
        self.emit(7, [time, struct.unpack("<Q", struct.pack("<d", value))[0]], name, device)

    def flow(self, name, time, number, kind):
        self.emit(8, [time, number], name, flags=kind)

    def loss(self, count, since, until, tid):
        self.chunk.overwritten += count
        self.emit(9, [count, since, until, tid])

    def note(self, key, time, value):
        if isinstance(value, str):
            self.emit(10, [time, self.recording.name(value)], key, flags=2)
        elif isinstance(value, float):
            self.emit(10, [time, struct.unpack("<Q", struct.pack("<d", value))[0]], key, flags=1)
        else:
            self.emit(10, [time, value % (1 << 64)], key)

    def step(self, number, time):
        self.emit(11, [time, number])

    def alloc(self, time, address, size, device=None):
        self.emit(12, [time, address, size], device=device)

    def free(self, time, address, size, device=None):
        self.emit(13, [time, address, size], device=device)


def packed_op(inputs=(), output=None, dtype=0, told_bytes=0):
    shapes = [*inputs, *([output] if output is not None else [])]
    descriptor = dtype | len(inputs) << 8 | (15 if output is None else len(output)) << 12
    for i, shape in enumerate(inputs):
        descriptor |= len(shape) << (16 + 4 * i)
    dims = [dim for shape in shapes for dim in shape]
    wide = any(dim >= 1 << 21 for dim in dims)
    if wide:
        packed = dims
    else:
        packed = [sum(dim << 21 * i for i, dim in enumerate(dims[at:at + 3])) for at in range(0, len(dims), 3)]
    return (1 if wide else 0) | (2 if told_bytes else 0), [descriptor, *([told_bytes] if told_bytes else []), *packed]


class Recording:
    def __init__(self, rank=-1, world_size=-1, pid=4711, parent_pid=0, host="node-a", process_name="trainer",
                 clock=MONOTONIC, ticks_per_second=1_000_000_000, opened=(0, 0, OPENED_NS)):
        self.rank, self.world_size, self.pid, self.parent_pid, self.host = rank, world_size, pid, parent_pid, host
        self.clock, self.ticks_per_second, self.opened = clock, ticks_per_second, opened
        self.closed, self.dropped, self.lost_names, self.stopped, self.policy = 1, 0, 0, 0, 0
        self.chunks, self.names = [], {}
        self.dictionary = self.new_chunk(2, 0)
        if process_name:
            self.dictionary.words += [word(18, 2, self.name(process_name)), pid]

    def new_chunk(self, kind, tid, clock=None):
        self.chunks.append(Chunk(kind, tid, len(self.chunks) + 1, *(clock or self.opened)))
        return self.chunks[-1]

    def thread(self, tid, name=None):
        return Thread(self, tid, name)

    def name(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        if data not in self.names:
            self.names[data] = len(self.names) + 1
            parts = [data[at:at + 2024] for at in range(0, len(data), 2024)] or [b""]
            for i, part in enumerate(parts):
                padded = part.ljust((len(part) + 7) // 8 * 8, b"\0")
                words = struct.unpack(f"<{len(padded) // 8}Q", padded)
                first = word(16, 2 + len(words), self.names[data], flags=1 if i + 1 < len(parts) else 0)
                self.dictionary.words += [first, len(part), *words]
        return self.names[data]

    def meta(self, key, value):
        self.dictionary.words += [word(19, 2, self.name(key)), self.name(value)]

    def header(self):
        data = struct.pack("<Q4I2I2i2IQ3Q7Q", 0x0A1A0D3152424489, 1, 0x01020304, HEADER, CHUNK, self.pid, self.parent_pid,
                           self.rank, self.world_size, self.clock, self.policy, self.ticks_per_second, *self.opened,
                           1024, len(self.chunks), 0, self.dropped, self.lost_names, self.closed, self.stopped)
        return (data + bytes(16) + self.host.encode().ljust(64, b"\0") + b"boot".ljust(40, b"\0")).ljust(HEADER, b"\0")

    def bytes(self):
        return self.header() + b"".join(chunk.bytes() for chunk in self.chunks)

    def write(self, path):
        with open(path, "wb") as file:
            file.write(self.bytes())
