#include "inputs/perfetto/packet.h"

#include "inputs/perfetto/message.h"

namespace debrief::inputs::perfetto {

namespace {

Name ReadInternedEntry(pbf_reader reader) {
  using F = fields::InternedEntry;
  Name name;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kIid):
        name.iid = reader.get_uint64();
        break;
      case Bytes(F::kText):
        name.text = TextOf(reader);
        break;
      default:
        reader.skip();
    }
  }
  return name;
}

void ReadInterned(pbf_reader reader, std::vector<InternedText>& interned) {
  using F = fields::InternedData;
  using Kind = InternedText::Kind;
  auto add = [&](Kind kind) {
    interned.push_back({kind, ReadInternedEntry(reader.get_message())});
  };
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(F::kEventCategories):
        add(Kind::kCategory);
        break;
      case Bytes(F::kEventNames):
        add(Kind::kEventName);
        break;
      case Bytes(F::kAnnotationNames):
        add(Kind::kAnnotationName);
        break;
      case Bytes(F::kAnnotationStrings):
        add(Kind::kString);
        break;
      default:
        reader.skip();
    }
  }
}

Thread ReadThread(pbf_reader reader) {
  using F = fields::ThreadDescriptor;
  Thread thread;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kPid):
        thread.pid = reader.get_int64();
        break;
      case Varint(F::kTid):
        thread.tid = reader.get_int64();
        break;
      case Bytes(F::kName):
        thread.name = TextOf(reader);
        break;
      case Varint(F::kReferenceUs):
        thread.reference_us = reader.get_int64();
        break;
      default:
        reader.skip();
    }
  }
  return thread;
}

Process ReadProcess(pbf_reader reader) {
  using F = fields::ProcessDescriptor;
  Process process;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kPid):
        process.pid = reader.get_int64();
        break;
      case Bytes(F::kName):
        process.name = TextOf(reader);
        break;
      default:
        reader.skip();
    }
  }
  return process;
}

void ReadCounter(pbf_reader reader, Descriptor& descriptor) {
  using F = fields::CounterDescriptor;
  descriptor.is_counter = true;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kUnitMultiplier):
        descriptor.unit_multiplier = reader.get_int64();
        break;
      case Varint(F::kIsIncremental):
        descriptor.is_incremental = (reader.get_uint64() != 0);
        break;
      case Bytes(F::kUnitName):
        descriptor.unit = TextOf(reader);
        break;
      default:
        reader.skip();
    }
  }
}

Descriptor ReadDescriptor(pbf_reader reader) {
  using F = fields::TrackDescriptor;
  Descriptor descriptor;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kUuid):
        descriptor.uuid = reader.get_uint64();
        break;
      case Varint(F::kParentUuid):
        descriptor.parent = reader.get_uint64();
        break;
      case Bytes(F::kName):
      case Bytes(F::kStaticName):
      case Bytes(F::kAtraceName):
        descriptor.name = TextOf(reader);
        break;
      case Bytes(F::kProcess):
        descriptor.process = ReadProcess(reader.get_message());
        break;
      case Bytes(F::kThread):
        descriptor.thread = ReadThread(reader.get_message());
        break;
      case Bytes(F::kCounter):
        ReadCounter(reader.get_message(), descriptor);
        break;
      default:
        reader.skip();
    }
  }
  return descriptor;
}

ClockReading ReadClock(pbf_reader reader) {
  using F = fields::Clock;
  ClockReading clock;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kId):
        clock.id = reader.get_uint32();
        break;
      case Varint(F::kTimestamp):
        clock.time = reader.get_uint64();
        break;
      case Varint(F::kIsIncremental):
        clock.is_incremental = (reader.get_uint64() != 0);
        break;
      case Varint(F::kUnitNs):
        clock.unit_ns = reader.get_uint64();
        break;
      default:
        reader.skip();
    }
  }
  return clock;
}

void ReadSnapshot(pbf_reader reader, Packet& packet) {
  using F = fields::ClockSnapshot;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(F::kClocks):
        packet.clocks.push_back(ReadClock(reader.get_message()));
        break;
      case Varint(F::kPrimaryClock):
        packet.primary_clock = reader.get_uint32();
        break;
      default:
        reader.skip();
    }
  }
}

void ReadEventDefaults(pbf_reader reader, PacketDefaults& defaults) {
  using F = fields::EventDefaults;
  auto add_to = [](std::vector<uint64_t>& list) {
    return [&list](uint64_t value) { list.push_back(value); };
  };
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kTrackUuid):
        defaults.track = reader.get_uint64();
        break;
      case Varint(F::kExtraCounterTracks):
        defaults.extra_tracks.push_back(reader.get_uint64());
        break;
      case Bytes(F::kExtraCounterTracks):
        ForEach(reader.get_packed_uint64(), add_to(defaults.extra_tracks));
        break;
      case Varint(F::kExtraDoubleCounterTracks):
        defaults.extra_double_tracks.push_back(reader.get_uint64());
        break;
      case Bytes(F::kExtraDoubleCounterTracks):
        ForEach(reader.get_packed_uint64(), add_to(defaults.extra_double_tracks));
        break;
      default:
        reader.skip();
    }
  }
}

PacketDefaults ReadDefaults(pbf_reader reader) {
  using F = fields::PacketDefaults;
  PacketDefaults defaults;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Bytes(F::kTrackEventDefaults):
        ReadEventDefaults(reader.get_message(), defaults);
        break;
      case Varint(F::kTimestampClockId):
        defaults.clock = reader.get_uint32();
        break;
      default:
        reader.skip();
    }
  }
  return defaults;
}

void ReadFlags(uint32_t flags, Packet& packet) {
  packet.state_cleared |= (flags & fields::kStateCleared) != 0;
  packet.needs_state |= (flags & fields::kNeedsState) != 0;
}

// What a packet says of itself; false when the field is no such.
bool ReadEnvelope(pbf_reader& reader, Packet& packet) {
  using F = fields::TracePacket;
  switch (reader.tag_and_type()) {
    case Varint(F::kTimestamp):
      packet.time = reader.get_uint64();
      return true;
    case Varint(F::kTimestampClockId):
      packet.clock = reader.get_uint32();
      return true;
    case Varint(F::kSequenceId):
      packet.sequence = reader.get_uint32();
      return true;
    case Varint(F::kSequenceFlags):
      ReadFlags(reader.get_uint32(), packet);
      return true;
    case Varint(F::kIncrementalStateCleared):
      packet.state_cleared |= (reader.get_uint64() != 0);
      return true;
    case Varint(F::kPreviousPacketDropped):
      packet.dropped_before = (reader.get_uint64() != 0);
      return true;
    default:
      return false;
  }
}

// What a packet carries; false when it is of no use to us.
bool ReadContent(pbf_reader& reader, Packet& packet) {
  using F = fields::TracePacket;
  switch (reader.tag_and_type()) {
    case Bytes(F::kTrackEvent):
      packet.has_event = true;
      ReadEvent(reader.get_message(), packet.event);
      return true;
    case Bytes(F::kInternedData):
      ReadInterned(reader.get_message(), packet.interned);
      return true;
    case Bytes(F::kTrackDescriptor):
      packet.descriptor = ReadDescriptor(reader.get_message());
      return true;
    case Bytes(F::kThreadDescriptor):
      packet.thread = ReadThread(reader.get_message());
      return true;
    case Bytes(F::kDefaults):
      packet.defaults = ReadDefaults(reader.get_message());
      return true;
    case Bytes(F::kClockSnapshot):
      ReadSnapshot(reader.get_message(), packet);
      return true;
    case Bytes(F::kCompressedPackets):
      packet.compressed = TextOf(reader);
      return true;
    default:
      return false;
  }
}

}  // namespace

void Packet::Clear() {
  time.reset();
  clock.reset();
  sequence = 0;
  state_cleared = needs_state = dropped_before = has_event = is_of_use = false;
  primary_clock.reset();
  clocks.clear();
  interned.clear();
  defaults.reset();
  descriptor.reset();
  thread.reset();
  compressed = {};
  event.Clear();
}

bool ParsePacket(std::string_view bytes, Packet& packet) {
  packet.Clear();
  try {
    pbf_reader reader(bytes.data(), bytes.size());
    while (reader.next()) {
      if (ReadEnvelope(reader, packet)) continue;
      if (ReadContent(reader, packet)) {
        packet.is_of_use = true;
      } else {
        reader.skip();
      }
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

}  // namespace debrief::inputs::perfetto
