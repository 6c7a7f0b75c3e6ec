#include "inputs/perfetto/packet.h"

#include <protozero/pbf_reader.hpp>

#include "base/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace {

namespace fields = debrief::perfetto;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr int kMostNesting = 64;

struct TooDeep : protozero::exception {};

// Cases of a switch over tag_and_type(): a field with another wire type than it should have falls
// through to default and is skipped.
template <typename Field>
constexpr uint32_t Tagged(Field field, pbf_wire_type type) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), type);
}
template <typename Field>
constexpr uint32_t Varint(Field field) {
  return Tagged(field, pbf_wire_type::varint);
}
template <typename Field>
constexpr uint32_t Bytes(Field field) {
  return Tagged(field, pbf_wire_type::length_delimited);
}
template <typename Field>
constexpr uint32_t Fixed64(Field field) {
  return Tagged(field, pbf_wire_type::fixed64);
}

std::string_view TextOf(pbf_reader& reader) {
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

// Repeated numbers may be packed into one field.
template <typename Range, typename Add>
void ForEach(const Range& range, Add add) {
  for (auto value : range) add(value);
}

Annotation::Type TypeOf(uint32_t field) {
  using F = fields::Annotation;
  switch (field) {
    case Fixed64(F::kDouble):
      return Annotation::Type::kDouble;
    case Bytes(F::kString):
    case Bytes(F::kLegacyJson):
      return Annotation::Type::kText;
    case Varint(F::kStringIid):
      return Annotation::Type::kInternedText;
    default:
      return Annotation::Type::kInt;
  }
}

// The value of `all[at]`. Dictionaries and arrays are told by their first element.
class AnnotationReader {
 public:
  explicit AnnotationReader(std::vector<Annotation>& all) : all_(all) {}

  void Read(pbf_reader reader, int32_t parent, int depth) {
    if (depth > kMostNesting) throw TooDeep();
    const auto at = Add(parent);
    using F = fields::Annotation;
    while (reader.next()) {
      const uint32_t field = reader.tag_and_type();
      switch (field) {
        case Varint(F::kNameIid):
          all_[at].name.iid = reader.get_uint64();
          break;
        case Bytes(F::kName):
          all_[at].name.text = TextOf(reader);
          break;
        case Varint(F::kBool):
        case Varint(F::kUint):
        case Varint(F::kInt):
        case Varint(F::kPointer):
        case Varint(F::kStringIid):
          all_[at].number = reader.get_int64();
          all_[at].type = TypeOf(field);
          break;
        case Fixed64(F::kDouble):
          all_[at].real = reader.get_double();
          all_[at].type = Annotation::Type::kDouble;
          break;
        case Bytes(F::kString):
        case Bytes(F::kLegacyJson):
          all_[at].text = TextOf(reader);
          all_[at].type = Annotation::Type::kText;
          break;
        case Bytes(F::kDictEntries):
          all_[at].type = Annotation::Type::kDict;
          Read(reader.get_message(), static_cast<int32_t>(at), depth + 1);
          break;
        case Bytes(F::kArrayValues):
          all_[at].type = Annotation::Type::kArray;
          Read(reader.get_message(), static_cast<int32_t>(at), depth + 1);
          break;
        case Bytes(F::kNested):
          ReadNested(reader.get_message(), at, depth + 1);
          break;
        default:
          reader.skip();
      }
    }
  }

 private:
  size_t Add(int32_t parent) {
    all_.push_back({.parent = parent});
    return all_.size() - 1;
  }

  void ReadChild(pbf_reader reader, Annotation::Type type, Name name, size_t at, int depth) {
    all_[at].type = type;
    const size_t child = Add(static_cast<int32_t>(at));
    all_[child].name = name;
    ReadNested(reader, child, depth + 1);
  }

  // The older form: keys and values of a dictionary are two lists of the same length.
  void ReadNested(pbf_reader reader, size_t at, int depth) {
    if (depth > kMostNesting) throw TooDeep();
    std::vector<std::string_view> keys;
    size_t values = 0;
    using F = fields::NestedValue;
    while (reader.next()) {
      switch (reader.tag_and_type()) {
        case Bytes(F::kDictKeys):
          keys.push_back(TextOf(reader));
          break;
        case Bytes(F::kDictValues): {
          const Name name = {.text = values < keys.size() ? keys[values] : std::string_view()};
          ++values;
          ReadChild(reader.get_message(), Annotation::Type::kDict, name, at, depth);
          break;
        }
        case Bytes(F::kArrayValues):
          ReadChild(reader.get_message(), Annotation::Type::kArray, {}, at, depth);
          break;
        case Varint(F::kInt):
        case Varint(F::kBool):
          all_[at].number = reader.get_int64();
          all_[at].type = Annotation::Type::kInt;
          break;
        case Fixed64(F::kDouble):
          all_[at].real = reader.get_double();
          all_[at].type = Annotation::Type::kDouble;
          break;
        case Bytes(F::kString):
          all_[at].text = TextOf(reader);
          all_[at].type = Annotation::Type::kText;
          break;
        default:
          reader.skip();
      }
    }
  }

  std::vector<Annotation>& all_;
};

void ReadLegacy(pbf_reader reader, Event& event) {
  using F = fields::LegacyEvent;
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kNameIid):
        event.name.iid = reader.get_uint64();
        break;
      case Varint(F::kPhase):
        event.legacy_phase = reader.get_int32();
        break;
      case Varint(F::kDurationUs):
        event.legacy_duration_us = reader.get_int64();
        break;
      default:
        reader.skip();
    }
  }
}

// Counters and arrows; false when the field is none of theirs.
bool ReadLists(pbf_reader& reader, Event& event) {
  using F = fields::TrackEvent;
  auto add_to = [](auto& list) { return [&list](auto value) { list.push_back(value); }; };
  auto tracks = [](std::optional<std::vector<uint64_t>>& list) -> std::vector<uint64_t>& {
    if (!list) list.emplace();
    return *list;
  };
  auto add_value = [&](int64_t value) { event.extra_values.push_back(static_cast<double>(value)); };
  auto add_flow = [&](bool ends) {
    return [&event, ends](uint64_t id) { event.flows.emplace_back(id, ends); };
  };
  switch (reader.tag_and_type()) {
    case Varint(F::kExtraCounterTracks):
      tracks(event.extra_tracks).push_back(reader.get_uint64());
      return true;
    case Bytes(F::kExtraCounterTracks):
      ForEach(reader.get_packed_uint64(), add_to(tracks(event.extra_tracks)));
      return true;
    case Varint(F::kExtraCounterValues):
      add_value(reader.get_int64());
      return true;
    case Bytes(F::kExtraCounterValues):
      ForEach(reader.get_packed_int64(), add_value);
      return true;
    case Varint(F::kExtraDoubleCounterTracks):
      tracks(event.extra_double_tracks).push_back(reader.get_uint64());
      return true;
    case Bytes(F::kExtraDoubleCounterTracks):
      ForEach(reader.get_packed_uint64(), add_to(tracks(event.extra_double_tracks)));
      return true;
    case Fixed64(F::kExtraDoubleCounterValues):
      event.extra_double_values.push_back(reader.get_double());
      return true;
    case Bytes(F::kExtraDoubleCounterValues):
      ForEach(reader.get_packed_double(), add_to(event.extra_double_values));
      return true;
    case Varint(F::kFlowIdsOld):
      event.flows.emplace_back(reader.get_uint64(), false);
      return true;
    case Varint(F::kTerminatingFlowIdsOld):
      event.flows.emplace_back(reader.get_uint64(), true);
      return true;
    case Fixed64(F::kFlowIds):
      event.flows.emplace_back(reader.get_fixed64(), false);
      return true;
    case Fixed64(F::kTerminatingFlowIds):
      event.flows.emplace_back(reader.get_fixed64(), true);
      return true;
    case Bytes(F::kFlowIdsOld):
      ForEach(reader.get_packed_uint64(), add_flow(false));
      return true;
    case Bytes(F::kTerminatingFlowIdsOld):
      ForEach(reader.get_packed_uint64(), add_flow(true));
      return true;
    case Bytes(F::kFlowIds):
      ForEach(reader.get_packed_fixed64(), add_flow(false));
      return true;
    case Bytes(F::kTerminatingFlowIds):
      ForEach(reader.get_packed_fixed64(), add_flow(true));
      return true;
    default:
      return false;
  }
}

void ReadEvent(pbf_reader reader, Event& event) {
  using F = fields::TrackEvent;
  auto add_category = [&](uint64_t iid) { event.categories.push_back({.iid = iid}); };
  while (reader.next()) {
    switch (reader.tag_and_type()) {
      case Varint(F::kType):
        event.type = reader.get_int32();
        break;
      case Varint(F::kTrackUuid):
        event.track = reader.get_uint64();
        break;
      case Varint(F::kNameIid):
        event.name.iid = reader.get_uint64();
        break;
      case Bytes(F::kName):
        event.name.text = TextOf(reader);
        break;
      case Varint(F::kCategoryIids):
        add_category(reader.get_uint64());
        break;
      case Bytes(F::kCategoryIids):
        ForEach(reader.get_packed_uint64(), add_category);
        break;
      case Bytes(F::kCategories):
        event.categories.push_back({.text = TextOf(reader)});
        break;
      case Bytes(F::kAnnotations):
        AnnotationReader(event.annotations).Read(reader.get_message(), -1, 0);
        break;
      case Varint(F::kTimestampDeltaUs):
        event.delta_us = reader.get_int64();
        break;
      case Varint(F::kTimestampAbsoluteUs):
        event.absolute_us = reader.get_int64();
        break;
      case Varint(F::kCounterValue):
        event.counter = static_cast<double>(reader.get_int64());
        break;
      case Fixed64(F::kDoubleCounterValue):
        event.counter = reader.get_double();
        break;
      case Bytes(F::kLegacyEvent):
        ReadLegacy(reader.get_message(), event);
        break;
      default:
        if (!ReadLists(reader, event)) reader.skip();
    }
  }
}

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

void Event::Clear() {
  type = 0;
  track.reset();
  name = {};
  categories.clear();
  delta_us.reset();
  absolute_us.reset();
  counter.reset();
  extra_tracks.reset();
  extra_double_tracks.reset();
  extra_values.clear();
  extra_double_values.clear();
  flows.clear();
  annotations.clear();
  legacy_phase = 0;
  legacy_duration_us = 0;
}

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
