// TrackEvent: what happened on a track, with its counters, arrows and debug annotations.
#include "inputs/perfetto/message.h"

namespace debrief::inputs::perfetto {

namespace {

constexpr int kMostNesting = 64;

struct TooDeep : protozero::exception {};

// The field says what the annotation is.
template <typename Field>
auto As(Annotation::Type type, Annotation& own, Field field) {
  return [&own, type, field](uint32_t tag, pbf_reader& reader) {
    if (!field(tag, reader)) return false;
    own.type = type;
    return true;
  };
}

// Annotations, each before those inside of it.
class AnnotationReader {
 public:
  explicit AnnotationReader(std::vector<Annotation>& all) : all_(all) {}

  void Read(pbf_reader reader, int32_t parent, int depth) {
    if (depth > kMostNesting) throw TooDeep();
    using F = fields::Annotation;
    const size_t at = Reserve();
    Annotation own = {.parent = parent};
    const auto child = [&](pbf_reader inner) { Read(inner, static_cast<int32_t>(at), depth + 1); };
    ReadMessage(reader, Number(F::kNameIid, own.name.iid), Text(F::kName, own.name.text),
                As(Type::kBool, own, Number(F::kBool, own.number)),
                As(Type::kUnsigned, own, Number(F::kUint, own.number)),
                As(Type::kInt, own, Number(F::kInt, own.number)),
                As(Type::kUnsigned, own, Number(F::kPointer, own.number)),
                As(Type::kInternedText, own, Number(F::kStringIid, own.number)),
                As(Type::kDouble, own, Real(F::kDouble, own.real)),
                As(Type::kText, own, Text(F::kString, own.text)),
                As(Type::kJson, own, Text(F::kLegacyJson, own.text)),
                As(Type::kDict, own, OnMessage(F::kDictEntries, child)),
                As(Type::kArray, own, OnMessage(F::kArrayValues, child)),
                OnMessage(F::kNested, [&](pbf_reader v) { ReadNested(v, at, own, depth + 1); }));
    all_[at] = own;
  }

 private:
  using Type = Annotation::Type;

  size_t Reserve() {
    all_.emplace_back();
    return all_.size() - 1;
  }

  // The older form: keys and values of a dictionary are two lists of the same length.
  void ReadNested(pbf_reader reader, size_t at, Annotation& own, int depth) {
    if (depth > kMostNesting) throw TooDeep();
    using F = fields::NestedValue;
    std::vector<std::string_view> keys;
    size_t values = 0;
    const auto child = [&](pbf_reader inner, std::string_view name) {
      const size_t place = Reserve();
      Annotation value = {.name = {.text = name}, .parent = static_cast<int32_t>(at)};
      ReadNested(inner, place, value, depth + 1);
      all_[place] = value;
    };
    const auto entry = [&](pbf_reader inner) {
      child(inner, values < keys.size() ? keys[values] : std::string_view());
      ++values;
    };
    ReadMessage(
        reader, Texts(F::kDictKeys, [&](std::string_view key) { keys.push_back(key); }),
        As(Type::kDict, own, OnMessage(F::kDictValues, entry)),
        As(Type::kArray, own, OnMessage(F::kArrayValues, [&](pbf_reader v) { child(v, {}); })),
        As(Type::kInt, own, Number(F::kInt, own.number)),
        As(Type::kBool, own, Number(F::kBool, own.number)),
        As(Type::kDouble, own, Real(F::kDouble, own.real)),
        As(Type::kText, own, Text(F::kString, own.text)));
  }

  std::vector<Annotation>& all_;
};

void ReadLegacy(pbf_reader reader, Event& event) {
  using F = fields::LegacyEvent;
  ReadMessage(reader, Number(F::kNameIid, event.name.iid), Number(F::kPhase, event.legacy_phase),
              Number(F::kDurationUs, event.legacy_duration_us));
}

auto AddTrackTo(std::optional<std::vector<uint64_t>>& list) {
  return [&list](uint64_t track) {
    if (!list) list.emplace();
    list->push_back(track);
  };
}

double AsSigned(uint64_t value) { return static_cast<double>(static_cast<int64_t>(value)); }

}  // namespace

void ReadEvent(pbf_reader reader, Event& event) {
  using F = fields::TrackEvent;
  const auto add_category = [&](uint64_t iid) { event.categories.push_back({.iid = iid}); };
  const auto add_flow = [&](uint64_t id) { event.flows.emplace_back(id, false); };
  const auto add_end = [&](uint64_t id) { event.flows.emplace_back(id, true); };
  const auto add_value = [&](uint64_t value) { event.extra_values.push_back(AsSigned(value)); };
  const auto add_double = [&](double value) { event.extra_double_values.push_back(value); };
  ReadMessage(
      reader, Number(F::kType, event.type), Number(F::kTrackUuid, event.track),
      Number(F::kNameIid, event.name.iid), Text(F::kName, event.name.text),
      Numbers(F::kCategoryIids, add_category),
      Texts(F::kCategories,
            [&](std::string_view text) { event.categories.push_back({.text = text}); }),
      OnMessage(F::kAnnotations,
                [&](pbf_reader told) { AnnotationReader(event.annotations).Read(told, -1, 0); }),
      Number(F::kTimestampDeltaUs, event.delta_us),
      Number(F::kTimestampAbsoluteUs, event.absolute_us),
      OnField(F::kCounterValue, pbf_wire_type::varint,
              [&](pbf_reader& from) { event.counter = AsSigned(from.get_uint64()); }),
      Real(F::kDoubleCounterValue, event.counter),
      OnMessage(F::kLegacyEvent, [&](pbf_reader told) { ReadLegacy(told, event); }),
      Numbers(F::kExtraCounterTracks, AddTrackTo(event.extra_tracks)),
      Numbers(F::kExtraCounterValues, add_value),
      Numbers(F::kExtraDoubleCounterTracks, AddTrackTo(event.extra_double_tracks)),
      WideNumbers<double>(F::kExtraDoubleCounterValues, add_double),
      Numbers(F::kFlowIdsOld, add_flow), Numbers(F::kTerminatingFlowIdsOld, add_end),
      WideNumbers<uint64_t>(F::kFlowIds, add_flow),
      WideNumbers<uint64_t>(F::kTerminatingFlowIds, add_end));
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
