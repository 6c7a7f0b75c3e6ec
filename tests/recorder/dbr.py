"""Reads a recording as docs/formats/recording.md describes it: a second reader, for tests of those who write."""
import struct
from collections import namedtuple

TYPES = {1: "span", 2: "begin", 3: "end", 4: "op", 5: "op_end", 6: "instant", 7: "counter", 8: "flow", 9: "loss", 10: "note", 11: "step",
         12: "alloc", 13: "free", 14: "more", 15: "owner", 16: "text",
         17: "thread", 18: "process", 19: "meta"}
DTYPES = ["unknown", "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128", "float8_e4m3", "float8_e5m2"]
HEADER_BYTES, CHUNK_HEADER_BYTES = 4096, 64

# device and name are text; values are the words behind the first one.
Record = namedtuple("Record", "type name device tid flags values")
Op = namedtuple("Op", "inputs output dtype bytes")


class Recording:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.content = file.read()
        assert self.content[:8] == b"\x89DBR1\r\x1a\n", "no recording"
        self.chunk_bytes, self.pid, self.parent_pid, self.rank, self.world_size = struct.unpack_from("<IIIii", self.content, 20)
        self.policy, = struct.unpack_from("<I", self.content, 44)
        self.overwritten, self.dropped, self.lost_names, self.closed = struct.unpack_from("<QQQQ", self.content, 96)
        self.texts, self.metadata, self.threads, self.process = {0: None}, {}, {}, None
        chunks = sorted(self.chunks())
        for _, kind, tid, words in chunks:
            if kind == 2:
                self.read_dictionary(words)
        self.records = [record for _, kind, tid, words in chunks if kind == 1 for record in self.read_records(tid, words)]

    def chunks(self):
        """(sequence, kind, tid, published bytes) of each chunk that was used."""
        for at in range(HEADER_BYTES, len(self.content) - CHUNK_HEADER_BYTES + 1, self.chunk_bytes):
            magic, kind, tid, _, sequence = struct.unpack_from("<4sH2xIIQ", self.content, at)
            head, = struct.unpack_from("<Q", self.content, at + 48)  # 16 bits of bytes, 48 of records taken back
            if magic == b"DBRC":
                first = at + CHUNK_HEADER_BYTES
                self.overwritten += head >> 16
                yield sequence, kind, tid, self.content[first:first + (head & 0xffff)]

    @staticmethod
    def words(published):
        """(type, flags, name id, track id, bytes behind the first word) of each record."""
        at = 0
        while at < len(published):
            first, = struct.unpack_from("<Q", published, at)
            words = first >> 8 & 0xff
            assert first != 0 and words != 0 and at + words * 8 <= len(published), "a broken record"
            yield TYPES[first & 63], first >> 6 & 3, first >> 16 & 0xffffff, first >> 40, published[at + 8:at + words * 8]
            at += words * 8

    def read_dictionary(self, published):
        parts = {}
        for kind, flags, name, _, content in self.words(published):
            value, = struct.unpack_from("<Q", content)
            if kind == "text":
                parts[name] = parts.get(name, b"") + content[8:8 + value]
                self.texts[name] = parts[name].decode()
            elif kind == "meta":
                self.metadata[self.texts[name]] = self.texts[value]
            elif kind == "thread":
                self.threads[value] = self.texts[name]
            elif kind == "process":
                self.process = self.texts[name]

    def read_records(self, tid, published):
        found = []
        for kind, flags, name, track, content in self.words(published):
            values = struct.unpack("<Qd" if kind == "counter" else f"<{len(content) // 8}Q", content)
            if kind == "more":
                found[-1] = found[-1]._replace(values=found[-1].values + values)
            elif kind == "owner":
                tid = values[0]
            else:
                found.append(Record(kind, self.texts[name], self.texts[track], tid, flags, values))
        return found

    def named(self, name):
        return [record for record in self.records if record.name == name]


def unpack_op(record):
    """Shapes of a record op or op_end; None where they were left out."""
    words = list(record.values[2 if record.type == "op" else 1:])
    descriptor = words.pop(0)
    size = words.pop(0) if record.flags & 2 else 0
    inputs, rank = descriptor >> 8 & 15, descriptor >> 12 & 15
    ranks = [descriptor >> 16 + 4 * i & 15 for i in range(inputs)]
    if inputs == 15:  # the long form: ranks stand before the dims, four to a word
        inputs, rank = descriptor >> 16 & 0xffff, (descriptor >> 32 & 0xffff) - 1
        ranks = [words[i // 4] >> i % 4 * 16 & 0xffff for i in range(inputs)]
        words = words[(inputs + 3) // 4:]
    if record.flags & 1:
        dims = words
    else:
        dims = [word >> shift & 0x1fffff for word in words for shift in (0, 21, 42)]
    shapes = [tuple(dims.pop(0) for _ in range(count)) for count in ranks]
    output = None if rank in (-1, 15) else tuple(dims.pop(0) for _ in range(rank))
    left_out = descriptor >> 7 & 1
    return Op(None if left_out else shapes, output, DTYPES[descriptor & 127], size)
