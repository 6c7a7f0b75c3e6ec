#include "outputs/exports/perfetto/packet_writer.h"

#include <cmath>
#include <protozero/pbf_writer.hpp>

#include "model/timeline/perfetto_fields.h"

namespace debrief::outputs::perfetto {

namespace {

namespace fields = debrief::perfetto;
using protozero::pbf_writer;

constexpr uint32_t kSequence = 1;
constexpr uint64_t kFirstEntry = uint64_t{1} << 20;  // number of a name that is no constant

template <typename Field>
constexpr protozero::pbf_tag_type Tag(Field field) {
  return static_cast<protozero::pbf_tag_type>(field);
}

void AddText(pbf_writer& writer, protozero::pbf_tag_type tag, std::string_view text) {
  writer.add_bytes(tag, text.data(), text.size());
}

}  // namespace

PacketWriter::PacketWriter(const Pools& pools, OutputFile& file) : pools_(pools), file_(file) {}

Status PacketWriter::WritePacket() {
  using F = fields::TracePacket;
  pbf_writer packet(packet_);
  packet.add_uint32(Tag(F::kSequenceId), kSequence);
  packet.add_uint32(Tag(F::kSequenceFlags),
                    is_first_ ? fields::kStateCleared : fields::kNeedsState);
  is_first_ = false;
  if (!interned_.empty()) packet.add_message(Tag(F::kInternedData), interned_);
  small_.clear();
  pbf_writer(small_).add_message(Tag(fields::Trace::kPacket), packet_);
  packet_.clear();
  interned_.clear();
  return file_.Append(small_);
}

Status PacketWriter::AddClocks(int64_t time) {
  std::string snapshot;
  for (uint32_t id : {fields::kRealtime, fields::kBoottime}) {
    std::string clock;
    pbf_writer writer(clock);
    writer.add_uint32(Tag(fields::Clock::kId), id);
    writer.add_uint64(Tag(fields::Clock::kTimestamp), static_cast<uint64_t>(time));
    pbf_writer(snapshot).add_message(Tag(fields::ClockSnapshot::kClocks), clock);
  }
  pbf_writer(packet_).add_message(Tag(fields::TracePacket::kClockSnapshot), snapshot);
  return WritePacket();
}

Status PacketWriter::AddTrack(const TrackInfo& track) {
  using F = fields::TrackDescriptor;
  std::string descriptor, inner;
  pbf_writer writer(descriptor);
  writer.add_uint64(Tag(F::kUuid), track.uuid);
  if (track.parent != 0) writer.add_uint64(Tag(F::kParentUuid), track.parent);
  pbf_writer inside(inner);
  switch (track.kind) {
    case TrackInfo::Kind::kProcess:
      inside.add_int32(Tag(fields::ProcessDescriptor::kPid), track.pid);
      AddText(inside, Tag(fields::ProcessDescriptor::kName), track.name);
      if (!track.labels.empty())
        AddText(inside, Tag(fields::ProcessDescriptor::kLabels), track.labels);
      writer.add_message(Tag(F::kProcess), inner);
      writer.add_uint32(Tag(F::kChildOrdering), fields::kExplicitOrder);
      break;
    case TrackInfo::Kind::kThread:
      inside.add_int32(Tag(fields::ThreadDescriptor::kPid), track.pid);
      inside.add_int32(Tag(fields::ThreadDescriptor::kTid), track.tid);
      AddText(inside, Tag(fields::ThreadDescriptor::kName), track.name);
      writer.add_message(Tag(F::kThread), inner);
      break;
    case TrackInfo::Kind::kCounter:
      AddText(writer, Tag(F::kName), track.name);
      writer.add_message(Tag(F::kCounter), inner);
      break;
    case TrackInfo::Kind::kPlain:
      AddText(writer, Tag(F::kName), track.name);
      break;
  }
  writer.add_int32(Tag(F::kSiblingOrderRank), track.order);
  pbf_writer(packet_).add_message(Tag(fields::TracePacket::kTrackDescriptor), descriptor);
  return WritePacket();
}

void PacketWriter::Begin(int32_t type, int64_t time, uint64_t track) {
  pbf_writer(packet_).add_uint64(Tag(fields::TracePacket::kTimestamp), static_cast<uint64_t>(time));
  pbf_writer event(event_);
  event.add_int32(Tag(fields::TrackEvent::kType), type);
  event.add_uint64(Tag(fields::TrackEvent::kTrackUuid), track);
}

void PacketWriter::Intern(uint32_t field, uint64_t iid, std::string_view text) {
  small_.clear();
  pbf_writer entry(small_);
  entry.add_uint64(Tag(fields::InternedEntry::kIid), iid);
  AddText(entry, Tag(fields::InternedEntry::kText), text);
  pbf_writer(interned_).add_message(field, small_);
}

uint64_t PacketWriter::InternOnce(uint32_t field, StringId id, Told& told) {
  const auto number = static_cast<uint32_t>(id);
  if (told.IsNew(number)) Intern(field, number, pools_.Text(id));
  return number;
}

void PacketWriter::Category(StringId category) {
  if (category == StringId::kNone) return;
  const uint64_t iid =
      InternOnce(Tag(fields::InternedData::kEventCategories), category, categories_);
  pbf_writer(event_).add_uint64(Tag(fields::TrackEvent::kCategoryIids), iid);
}

void PacketWriter::Category(std::string_view category) {
  pbf_writer event(event_);
  AddText(event, Tag(fields::TrackEvent::kCategories), category);
}

void PacketWriter::Named(StringId name) {
  if (name == StringId::kNone) return;
  const uint64_t iid = InternOnce(Tag(fields::InternedData::kEventNames), name, names_);
  pbf_writer(event_).add_uint64(Tag(fields::TrackEvent::kNameIid), iid);
}

void PacketWriter::Named(std::string_view name) {
  pbf_writer event(event_);
  AddText(event, Tag(fields::TrackEvent::kName), name);
}

void PacketWriter::Flow(uint64_t id, bool ends) {
  using F = fields::TrackEvent;
  pbf_writer(event_).add_fixed64(Tag(ends ? F::kTerminatingFlowIds : F::kFlowIds), id);
}

void PacketWriter::Counter(double value) {
  pbf_writer(event_).add_double(Tag(fields::TrackEvent::kDoubleCounterValue), value);
}

uint64_t PacketWriter::KeyNumber(std::string_view key) {
  const auto [found, is_new] = keys_.try_emplace(key.data(), keys_.size() + 1);
  if (is_new) Intern(Tag(fields::InternedData::kAnnotationNames), found->second, key);
  return found->second;
}

template <typename Add>
void PacketWriter::AddAnnotation(std::string_view key, Add add) {
  const uint64_t number = KeyNumber(key);
  annotation_.clear();
  pbf_writer annotation(annotation_);
  annotation.add_uint64(Tag(fields::Annotation::kNameIid), number);
  add(annotation);
  pbf_writer(event_).add_message(Tag(fields::TrackEvent::kAnnotations), annotation_);
}

void PacketWriter::Annotate(std::string_view key, int64_t value) {
  if (value == kNone64) return;
  AddAnnotation(key, [&](pbf_writer& to) { to.add_int64(Tag(fields::Annotation::kInt), value); });
}

void PacketWriter::Annotate(std::string_view key, int32_t value) {
  if (value != kNone32) Annotate(key, int64_t{value});
}

void PacketWriter::Annotate(std::string_view key, uint8_t value) {
  AddAnnotation(key,
                [&](pbf_writer& to) { to.add_bool(Tag(fields::Annotation::kBool), value != 0); });
}

void PacketWriter::Annotate(std::string_view key, double value) {
  if (std::isnan(value)) return;
  AddAnnotation(key,
                [&](pbf_writer& to) { to.add_double(Tag(fields::Annotation::kDouble), value); });
}

void PacketWriter::Annotate(std::string_view key, StringId value) {
  if (value == StringId::kNone) return;
  const uint64_t iid = InternOnce(Tag(fields::InternedData::kAnnotationStrings), value, texts_);
  AddAnnotation(key,
                [&](pbf_writer& to) { to.add_uint64(Tag(fields::Annotation::kStringIid), iid); });
}

void PacketWriter::AnnotateText(std::string_view key, std::string_view value) {
  AddAnnotation(key, [&](pbf_writer& to) { AddText(to, Tag(fields::Annotation::kString), value); });
}

// Numbers of annotation names are shared by constants and by what inputs name.
uint64_t PacketWriter::EntryNumber(std::string_view key) {
  const auto [found, is_new] = entry_keys_.try_emplace(std::string(key), kFirstEntry);
  if (!is_new) return found->second;
  found->second += entry_keys_.size();
  Intern(Tag(fields::InternedData::kAnnotationNames), found->second, key);
  return found->second;
}

// What has no form of its own (null, {}, numbers beyond 64 bits) stays JSON.
void PacketWriter::PutJson(JsonValue value, std::string& annotation) {
  using F = fields::Annotation;
  pbf_writer to(annotation);
  const auto inside = [&](F field, std::string_view key, JsonValue element) {
    std::string inner;
    if (field == F::kDictEntries) pbf_writer(inner).add_uint64(Tag(F::kNameIid), EntryNumber(key));
    PutJson(element, inner);
    to.add_message(Tag(field), inner);
  };
  switch (value.kind()) {
    case JsonKind::kBool:
      return to.add_bool(Tag(F::kBool), value.Bool().value_or(false));
    case JsonKind::kString:
      return AddText(to, Tag(F::kString), value.String().value_or(""));
    case JsonKind::kNumber: {
      const std::string_view raw = value.Raw().value_or("0");
      const bool is_real = raw.find_first_of(".eE") != std::string_view::npos;
      if (const auto number = is_real ? std::nullopt : value.Int())
        return to.add_int64(Tag(F::kInt), *number);
      if (const auto number = is_real ? value.Double() : std::nullopt)
        return to.add_double(Tag(F::kDouble), *number);
      return AddText(to, Tag(F::kLegacyJson), raw);
    }
    case JsonKind::kObject: {
      bool is_empty = true;
      (void)value.ForEachField([&](std::string_view key, JsonValue element) {
        is_empty = false;
        inside(F::kDictEntries, key, element);
      });
      if (is_empty) AddText(to, Tag(F::kLegacyJson), "{}");
      return;
    }
    case JsonKind::kArray: {
      bool is_empty = true;
      (void)value.ForEachElement([&](JsonValue element) {
        is_empty = false;
        inside(F::kArrayValues, {}, element);
      });
      if (is_empty) to.add_message(Tag(F::kArrayValues), "", 0);
      return;
    }
    default:
      return AddText(to, Tag(F::kLegacyJson), "null");
  }
}

void PacketWriter::AddEntry(std::string_view key, JsonValue value) {
  std::string entry;
  pbf_writer(entry).add_uint64(Tag(fields::Annotation::kNameIid), EntryNumber(key));
  PutJson(value, entry);
  pbf_writer(entries_).add_message(Tag(fields::Annotation::kDictEntries), entry);
}

void PacketWriter::EndEntries(std::string_view key) {
  if (entries_.empty()) return;
  const uint64_t number = KeyNumber(key);
  annotation_.clear();
  pbf_writer(annotation_).add_uint64(Tag(fields::Annotation::kNameIid), number);
  annotation_ += entries_;
  pbf_writer(event_).add_message(Tag(fields::TrackEvent::kAnnotations), annotation_);
}

// A list without elements is told by one that has no value.
void PacketWriter::Annotate(std::string_view key, ListId value) {
  if (value == ListId::kNone) return;
  AddAnnotation(key, [&](pbf_writer& annotation) {
    const auto numbers = pools_.lists.Get(value);
    for (int64_t number : numbers) {
      small_.clear();
      pbf_writer(small_).add_int64(Tag(fields::Annotation::kInt), number);
      annotation.add_message(Tag(fields::Annotation::kArrayValues), small_);
    }
    if (numbers.empty()) annotation.add_message(Tag(fields::Annotation::kArrayValues), "", 0);
  });
}

Status PacketWriter::End() {
  pbf_writer(packet_).add_message(Tag(fields::TracePacket::kTrackEvent), event_);
  event_.clear();
  return WritePacket();
}

}  // namespace debrief::outputs::perfetto
