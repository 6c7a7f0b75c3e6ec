// TrackEvent: what happened on a track, with its counters, arrows and debug annotations.
#include "inputs/perfetto/message.h"

namespace debrief::inputs::perfetto {

namespace {

constexpr int kMostNesting = 64;

struct TooDeep : protozero::exception {};

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

// Ids of arrows, of all forms; false when the field is none of theirs.
bool ReadFlows(pbf_reader& reader, Event& event) {
  using F = fields::TrackEvent;
  const uint32_t field = reader.tag_and_type();
  auto is_one_of = [field](auto... fields) { return ((field == fields) || ...); };
  const bool ends = is_one_of(Varint(F::kTerminatingFlowIdsOld), Bytes(F::kTerminatingFlowIdsOld),
                              Fixed64(F::kTerminatingFlowIds), Bytes(F::kTerminatingFlowIds));
  auto add = [&](uint64_t id) { event.flows.emplace_back(id, ends); };
  if (is_one_of(Varint(F::kFlowIdsOld), Varint(F::kTerminatingFlowIdsOld))) {
    add(reader.get_uint64());
  } else if (is_one_of(Bytes(F::kFlowIdsOld), Bytes(F::kTerminatingFlowIdsOld))) {
    ForEach(reader.get_packed_uint64(), add);
  } else if (is_one_of(Fixed64(F::kFlowIds), Fixed64(F::kTerminatingFlowIds))) {
    add(reader.get_fixed64());
  } else if (is_one_of(Bytes(F::kFlowIds), Bytes(F::kTerminatingFlowIds))) {
    ForEach(reader.get_packed_fixed64(), add);
  } else {
    return false;
  }
  return true;
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
  switch (reader.tag_and_type()) {
    case Varint(F::kExtraCounterTracks):
      tracks(event.extra_tracks).push_back(reader.get_uint64());
      break;
    case Bytes(F::kExtraCounterTracks):
      ForEach(reader.get_packed_uint64(), add_to(tracks(event.extra_tracks)));
      break;
    case Varint(F::kExtraCounterValues):
      add_value(reader.get_int64());
      break;
    case Bytes(F::kExtraCounterValues):
      ForEach(reader.get_packed_int64(), add_value);
      break;
    case Varint(F::kExtraDoubleCounterTracks):
      tracks(event.extra_double_tracks).push_back(reader.get_uint64());
      break;
    case Bytes(F::kExtraDoubleCounterTracks):
      ForEach(reader.get_packed_uint64(), add_to(tracks(event.extra_double_tracks)));
      break;
    case Fixed64(F::kExtraDoubleCounterValues):
      event.extra_double_values.push_back(reader.get_double());
      break;
    case Bytes(F::kExtraDoubleCounterValues):
      ForEach(reader.get_packed_double(), add_to(event.extra_double_values));
      break;
    default:
      return ReadFlows(reader, event);
  }
  return true;
}

}  // namespace

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

}  // namespace debrief::inputs::perfetto
