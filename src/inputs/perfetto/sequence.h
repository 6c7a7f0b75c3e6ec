// What the packets of one sequence (mostly: one thread of a program) build up for those that follow
// them: names under numbers, and defaults. A packet that says so forgets all of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/perfetto/packet.h"
#include "model/model.h"

namespace debrief::inputs::perfetto {

// Which row a debug annotation belongs to, by its name.
enum class Group : uint8_t { kNone, kSlice, kWork, kOp, kCollective, kMemory };

Group GroupOf(std::string_view key);

struct AnnotationName {
  std::string text;
  Group group = Group::kNone;
};

class Sequence {
 public:
  // Takes over what the packet says about the sequence. False when the packet needs names that are
  // lost.
  bool Take(const Packet& packet, Pools& pools);

  // kNone when the number was not told.
  StringId NameOf(const Name& name, Pools& pools) const;
  StringId CategoryOf(const Name& name, Pools& pools) const;
  StringId StringOf(uint64_t iid) const;
  // Null when the number was not told, and for names that are not interned.
  const AnnotationName* AnnotationOf(uint64_t iid) const;

  uint64_t DefaultTrack() const;
  uint32_t ClockOf(const Packet& packet) const;
  const PacketDefaults& defaults() const { return defaults_; }

  // The time of an event that tells it in the old form: microseconds, mostly since the last event.
  std::optional<int64_t> OldTime(const Event& event);

 private:
  void Intern(const InternedText& text, Pools& pools);

  bool is_valid_ = true;  // nothing was lost since the names were told
  std::unordered_map<uint64_t, StringId> names_, categories_, strings_;
  std::unordered_map<uint64_t, AnnotationName> annotations_;
  PacketDefaults defaults_;
  std::optional<uint64_t> thread_track_;
  int64_t last_us_ = 0;
};

// Stands for the track of a thread that is only told as that of a sequence.
uint64_t ThreadUuid(const Thread& thread);

}  // namespace debrief::inputs::perfetto
