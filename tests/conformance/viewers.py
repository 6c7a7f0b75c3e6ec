"""What viewers of traces would refuse or draw wrongly: Chrome, Perfetto, TensorBoard's loader for JSON; Perfetto's trace processor for protobuf.

The rules are those of the formats, written down here a second time: what debrief writes is not judged by what debrief reads.
"""
from collections import defaultdict

NEEDED = {"X": ("ts", "dur", "tid"), "C": ("ts", "args"), "M": ("args",), "s": ("ts", "id"), "f": ("ts", "id"), "b": ("ts", "id"),
          "e": ("ts", "id"), "i": ("ts",)}


def json_problems(trace):
    """Problems of a trace in JSON; [] when there are none."""
    events = trace["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    problems = [event for event in events if not isinstance(event.get("pid"), int) or not isinstance(event.get("name"), str) or
                not all(key in event for key in NEEDED.get(event["ph"], ("",)))]
    problems += [event for event in slices if not (event["dur"] >= 0 and isinstance(event["ts"], (int, float)))]
    problems += [event for event in events
                 if event["ph"] == "C" and not all(isinstance(value, (int, float)) for value in event["args"].values())]
    # TensorBoard chooses the kind of an event by its category and reads its arguments by name.
    problems += [event for event in slices if not isinstance(event.get("cat"), str) or not isinstance(event.get("args", {}), dict)]
    problems += [device for device in trace.get("deviceProperties", []) if not isinstance(device.get("id"), int)]
    ends = {ph: {(event.get("cat"), event["id"]) for event in events if event["ph"] == ph} for ph in "sfbe"}
    return problems + sorted(ends["s"] ^ ends["f"]) + sorted(ends["b"] ^ ends["e"])


def fields(message):
    """(number, value) of each field: an int, or bytes of what is longer."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
            if byte < 0x80:
                return value

    while at < len(message):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        elif tag & 7 in (1, 5):
            size = 8 if tag & 7 == 1 else 4
            yield tag >> 3, message[at:at + size]
            at += size
        elif tag & 7 == 2:
            size = varint()
            if at + size > len(message):
                raise ValueError(f"a field of {size} bytes at byte {at} of {len(message)}")
            yield tag >> 3, message[at:at + size]
            at += size
        else:
            raise ValueError(f"wire type {tag & 7} at byte {at}")


def all_of(message, number):
    return [value for field, value in fields(message) if field == number]


def first_of(message, number, default=None):
    return next(iter(all_of(message, number)), default)


# Numbers of fields, as perfetto/protos has them.
TIMESTAMP, SEQUENCE, EVENT, INTERNED, FLAGS, DESCRIPTOR = 8, 10, 11, 12, 13, 60
CATEGORIES, NAMES, ANNOTATION_NAMES, STRINGS = 1, 2, 3, 29  # of interned data
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4  # types of events


class PerfettoCheck:
    """Goes through the packets of one trace as the trace processor does: names by sequence, events by time on their track."""

    def __init__(self):
        self.problems, self.tracks, self.counters = [], set(), set()
        self.known = defaultdict(set)  # numbers of interned texts, by sequence and kind
        self.edges = defaultdict(list)  # (time, number of packet, type), by track
        self.used = set()

    def run(self, packets):
        for number, packet in enumerate(packets):
            sequence, flags = first_of(packet, SEQUENCE, 0), first_of(packet, FLAGS, 0)
            if sequence == 0 or (number == 0 and not flags & 1):
                self.problems.append(f"packet {number}: no sequence, or its state is not cleared first")
            if flags & 1:
                self.known = defaultdict(set, {key: value for key, value in self.known.items() if key[0] != sequence})
            for interned in all_of(packet, INTERNED):
                for kind, entry in fields(interned):
                    self.known[sequence, kind].add(first_of(entry, 1))
            for descriptor in all_of(packet, DESCRIPTOR):
                self.tracks.add(first_of(descriptor, 1))
                if all_of(descriptor, 8):
                    self.counters.add(first_of(descriptor, 1))
            for event in all_of(packet, EVENT):
                self.check_event(number, sequence, first_of(packet, TIMESTAMP), event)
        self.check_tracks()
        return self.problems

    def check_event(self, number, sequence, time, event):
        kind, track = first_of(event, 9), first_of(event, 11)
        self.used.add(track)
        known = lambda table, iids: all(iid in self.known[sequence, table] for iid in iids)
        if time is None or kind not in (BEGIN, END, INSTANT, COUNTER):
            self.problems.append(f"packet {number}: no time or no type")
        if kind in (BEGIN, END):
            self.edges[track].append((time, number, kind))
        if kind == COUNTER and (track not in self.counters or not all_of(event, 30) + all_of(event, 44)):
            self.problems.append(f"packet {number}: no counter, or no value")
        if kind in (BEGIN, INSTANT) and not known(NAMES, all_of(event, 10)):
            self.problems.append(f"packet {number}: the number of a name that was not told")
        if not known(CATEGORIES, all_of(event, 3)) or not all(map(lambda each: self.is_told(sequence, each), all_of(event, 4))):
            self.problems.append(f"packet {number}: a category or an argument that was not told")

    def is_told(self, sequence, annotation):
        """The names of an annotation and of all inside of it, and its texts."""
        named = all(iid in self.known[sequence, ANNOTATION_NAMES] for iid in all_of(annotation, 1))
        text = all(iid in self.known[sequence, STRINGS] for iid in all_of(annotation, 17))
        return named and text and all(self.is_told(sequence, inner) for inner in all_of(annotation, 11) + all_of(annotation, 12))

    def check_tracks(self):
        self.problems += [f"track {track} is not described" for track in sorted(self.used - self.tracks)]
        for track, edges in self.edges.items():
            depth = 0
            for _, number, kind in sorted(edges, key=lambda edge: edge[:2]):
                depth += 1 if kind == BEGIN else -1
                if depth < 0:
                    self.problems.append(f"packet {number}: a slice of track {track} ends that did not begin")
                    break
            if depth > 0:
                self.problems.append(f"track {track}: {depth} slices do not end")


def perfetto_problems(content):
    """Problems of a trace in protobuf; [] when there are none."""
    return PerfettoCheck().run(all_of(content, 1))
