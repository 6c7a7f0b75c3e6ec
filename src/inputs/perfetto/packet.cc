#include "inputs/perfetto/packet.h"

#include "inputs/perfetto/message.h"

namespace debrief::inputs::perfetto {

namespace {

auto AddTo(std::vector<uint64_t>& list) {
  return [&list](uint64_t value) { list.push_back(value); };
}

void ReadInterned(pbf_reader reader, std::vector<InternedText>& interned) {
  using Kind = InternedText::Kind;
  using Entry = fields::InternedEntry;
  const auto entries = [&](fields::InternedData field, Kind kind) {
    return OnMessage(field, [&interned, kind](pbf_reader entry) {
      Name name;
      ReadMessage(entry, Number(Entry::kIid, name.iid), Text(Entry::kText, name.text));
      interned.push_back({kind, name});
    });
  };
  using F = fields::InternedData;
  ReadMessage(reader, entries(F::kEventCategories, Kind::kCategory),
              entries(F::kEventNames, Kind::kEventName),
              entries(F::kAnnotationNames, Kind::kAnnotationName),
              entries(F::kAnnotationStrings, Kind::kString));
}

Thread ReadThread(pbf_reader reader) {
  using F = fields::ThreadDescriptor;
  Thread thread;
  ReadMessage(reader, Number(F::kPid, thread.pid), Number(F::kTid, thread.tid),
              Text(F::kName, thread.name), Number(F::kReferenceUs, thread.reference_us));
  return thread;
}

Process ReadProcess(pbf_reader reader) {
  using F = fields::ProcessDescriptor;
  Process process;
  ReadMessage(reader, Number(F::kPid, process.pid), Text(F::kName, process.name));
  return process;
}

void ReadCounter(pbf_reader reader, Descriptor& descriptor) {
  using F = fields::CounterDescriptor;
  descriptor.is_counter = true;
  ReadMessage(reader, Number(F::kUnitMultiplier, descriptor.unit_multiplier),
              Number(F::kIsIncremental, descriptor.is_incremental),
              Text(F::kUnitName, descriptor.unit));
}

Descriptor ReadDescriptor(pbf_reader reader) {
  using F = fields::TrackDescriptor;
  Descriptor descriptor;
  ReadMessage(
      reader, Number(F::kUuid, descriptor.uuid), Number(F::kParentUuid, descriptor.parent),
      Text(F::kName, descriptor.name), Text(F::kStaticName, descriptor.name),
      Text(F::kAtraceName, descriptor.name),
      OnMessage(F::kProcess, [&](pbf_reader told) { descriptor.process = ReadProcess(told); }),
      OnMessage(F::kThread, [&](pbf_reader told) { descriptor.thread = ReadThread(told); }),
      OnMessage(F::kCounter, [&](pbf_reader told) { ReadCounter(told, descriptor); }));
  return descriptor;
}

ClockReading ReadClock(pbf_reader reader) {
  using F = fields::Clock;
  ClockReading clock;
  ReadMessage(reader, Number(F::kId, clock.id), Number(F::kTimestamp, clock.time),
              Number(F::kIsIncremental, clock.is_incremental), Number(F::kUnitNs, clock.unit_ns));
  return clock;
}

void ReadSnapshot(pbf_reader reader, Packet& packet) {
  using F = fields::ClockSnapshot;
  ReadMessage(
      reader, Number(F::kPrimaryClock, packet.primary_clock),
      OnMessage(F::kClocks, [&](pbf_reader clock) { packet.clocks.push_back(ReadClock(clock)); }));
}

PacketDefaults ReadDefaults(pbf_reader reader) {
  using F = fields::PacketDefaults;
  using E = fields::EventDefaults;
  PacketDefaults defaults;
  ReadMessage(reader, Number(F::kTimestampClockId, defaults.clock),
              OnMessage(F::kTrackEventDefaults, [&](pbf_reader of_events) {
                ReadMessage(
                    of_events, Number(E::kTrackUuid, defaults.track),
                    Numbers(E::kExtraCounterTracks, AddTo(defaults.extra_tracks)),
                    Numbers(E::kExtraDoubleCounterTracks, AddTo(defaults.extra_double_tracks)));
              }));
  return defaults;
}

// What it says of itself, and what it carries.
void ReadPacket(pbf_reader reader, Packet& packet) {
  using F = fields::TracePacket;
  uint32_t flags = 0;
  bool was_cleared = false;
  const auto content = [&packet](F field, auto take) {
    return OnMessage(field, [&packet, take](pbf_reader message) {
      packet.is_of_use = true;
      take(message);
    });
  };
  ReadMessage(
      reader, Number(F::kTimestamp, packet.time), Number(F::kTimestampClockId, packet.clock),
      Number(F::kSequenceId, packet.sequence), Number(F::kSequenceFlags, flags),
      Number(F::kIncrementalStateCleared, was_cleared),
      Number(F::kPreviousPacketDropped, packet.dropped_before),
      content(F::kTrackEvent,
              [&](pbf_reader event) {
                packet.has_event = true;
                ReadEvent(event, packet.event);
              }),
      content(F::kInternedData, [&](pbf_reader texts) { ReadInterned(texts, packet.interned); }),
      content(F::kTrackDescriptor,
              [&](pbf_reader track) { packet.descriptor = ReadDescriptor(track); }),
      content(F::kThreadDescriptor, [&](pbf_reader thread) { packet.thread = ReadThread(thread); }),
      content(F::kDefaults, [&](pbf_reader told) { packet.defaults = ReadDefaults(told); }),
      content(F::kClockSnapshot, [&](pbf_reader clocks) { ReadSnapshot(clocks, packet); }),
      content(F::kCompressedPackets, [&](pbf_reader packed) {
        packet.compressed = {packed.data().data(), packed.data().size()};
      }));
  packet.state_cleared = was_cleared || (flags & fields::kStateCleared) != 0;
  packet.needs_state = (flags & fields::kNeedsState) != 0;
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
    ReadPacket(pbf_reader(bytes.data(), bytes.size()), packet);
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

}  // namespace debrief::inputs::perfetto
