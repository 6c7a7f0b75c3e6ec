#include "inputs/perfetto/sequence.h"

#include "model/timeline/columns.h"
#include "model/timeline/perfetto_fields.h"

namespace debrief::inputs::perfetto {

namespace {

namespace fields = debrief::perfetto;

StringId Find(const std::unordered_map<uint64_t, StringId>& names, uint64_t iid) {
  const auto found = names.find(iid);
  return found == names.end() ? StringId::kNone : found->second;
}

template <typename Row>
void AddKeys(Group group, std::unordered_map<std::string_view, Group>& groups) {
  Row row;
  timeline::VisitColumns(row, [&](std::string_view key, auto&) { groups.emplace(key, group); });
}

std::unordered_map<std::string_view, Group> MakeGroups() {
  std::unordered_map<std::string_view, Group> groups;
  for (std::string_view key :
       {timeline::kKindKey, timeline::kCorrelationKey, timeline::kExternalIdKey})
    groups.emplace(key, Group::kSlice);
  groups.emplace(timeline::kWorkKey, Group::kWork);
  groups.emplace(timeline::kOpKey, Group::kOp);
  groups.emplace(timeline::kCollectiveKey, Group::kCollective);
  AddKeys<TimelineDeviceWorkRow>(Group::kWork, groups);
  AddKeys<TimelineOpRow>(Group::kOp, groups);
  AddKeys<TimelineCollectiveRow>(Group::kCollective, groups);
  AddKeys<TimelineMemoryRow>(Group::kMemory, groups);
  return groups;
}

}  // namespace

Group GroupOf(std::string_view key) {
  static const auto kGroups = MakeGroups();
  const auto found = kGroups.find(key);
  return found == kGroups.end() ? Group::kNone : found->second;
}

uint64_t ThreadUuid(const Thread& thread) {
  return static_cast<uint64_t>(thread.pid) * 0x9e3779b97f4a7c15 + static_cast<uint64_t>(thread.tid);
}

bool Sequence::Take(const Packet& packet, Pools& pools) {
  if (packet.dropped_before) is_valid_ = false;
  if (packet.state_cleared) {
    names_.clear();
    categories_.clear();
    strings_.clear();
    annotations_.clear();
    defaults_ = {};
    is_valid_ = true;
  }
  if (packet.needs_state && !is_valid_) return false;
  for (const InternedText& text : packet.interned) Intern(text, pools);
  if (packet.defaults) defaults_ = *packet.defaults;
  const Thread* thread = packet.thread ? &*packet.thread : nullptr;
  if (thread != nullptr) thread_track_ = ThreadUuid(*thread);
  if (thread == nullptr && packet.descriptor && packet.descriptor->thread)
    thread = &*packet.descriptor->thread;
  if (thread != nullptr && thread->reference_us) last_us_ = *thread->reference_us;
  return true;
}

void Sequence::Intern(const InternedText& text, Pools& pools) {
  const auto [iid, name] = text.name;
  switch (text.kind) {
    case InternedText::Kind::kCategory:
      categories_.insert_or_assign(iid, pools.Intern(name));
      break;
    case InternedText::Kind::kEventName:
      names_.insert_or_assign(iid, pools.Intern(name));
      break;
    case InternedText::Kind::kString:
      strings_.insert_or_assign(iid, pools.Intern(name));
      break;
    case InternedText::Kind::kAnnotationName:
      annotations_.insert_or_assign(iid, AnnotationName{std::string(name), GroupOf(name)});
      break;
  }
}

StringId Sequence::NameOf(const Name& name, Pools& pools) const {
  return name.iid != 0 ? Find(names_, name.iid) : pools.Intern(name.text);
}

StringId Sequence::CategoryOf(const Name& name, Pools& pools) const {
  return name.iid != 0 ? Find(categories_, name.iid) : pools.Intern(name.text);
}

StringId Sequence::StringOf(uint64_t iid) const { return Find(strings_, iid); }

const AnnotationName* Sequence::AnnotationOf(uint64_t iid) const {
  const auto found = annotations_.find(iid);
  return found == annotations_.end() ? nullptr : &found->second;
}

uint64_t Sequence::DefaultTrack() const {
  return defaults_.track.value_or(thread_track_.value_or(0));
}

uint32_t Sequence::ClockOf(const Packet& packet) const {
  return packet.clock.value_or(defaults_.clock.value_or(fields::kBoottime));
}

std::optional<int64_t> Sequence::OldTime(const Event& event) {
  int64_t us = 0, ns = 0;
  if (event.absolute_us) {
    us = *event.absolute_us;
  } else if (!event.delta_us || __builtin_add_overflow(last_us_, *event.delta_us, &us)) {
    return std::nullopt;
  } else {
    last_us_ = us;
  }
  if (__builtin_mul_overflow(us, int64_t{1000}, &ns)) return std::nullopt;
  return ns;
}

}  // namespace debrief::inputs::perfetto
