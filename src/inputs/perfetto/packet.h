// One packet of a Perfetto trace as plain fields. Nothing is looked up and nothing is kept: texts
// are views into the packet's bytes, names may be numbers that the sequence's interned data
// explains.
//
// Decoding uses protozero, which throws; packet.cc is the only file that sees that.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace debrief::inputs::perfetto {

// A text, or the number under which the sequence interned it.
struct Name {
  uint64_t iid = 0;
  std::string_view text;
};

// A debug annotation; those inside of dictionaries and arrays follow the one that holds them.
struct Annotation {
  enum class Type : uint8_t {
    kNone,
    kBool,
    kInt,
    kUnsigned,
    kDouble,
    kText,
    kJson,
    kInternedText,
    kDict,
    kArray
  };
  Name name;
  int32_t parent = -1;  // position of the dictionary or array around it
  Type type = Type::kNone;
  int64_t number = 0;  // also the number of an interned text
  double real = 0;
  std::string_view text;  // also JSON

  bool IsWhole() const {
    return type == Type::kBool || type == Type::kInt || type == Type::kUnsigned;
  }
  bool IsText() const { return type == Type::kText || type == Type::kJson; }
};

struct Event {
  int32_t type = 0;
  std::optional<uint64_t> track;
  Name name;
  std::vector<Name> categories;
  std::optional<int64_t> delta_us, absolute_us;
  std::optional<double> counter;
  std::optional<std::vector<uint64_t>> extra_tracks, extra_double_tracks;
  std::vector<double> extra_values, extra_double_values;
  std::vector<std::pair<uint64_t, bool>> flows;  // id, and whether it ends here
  std::vector<Annotation> annotations;
  int32_t legacy_phase = 0;
  int64_t legacy_duration_us = 0;

  void Clear();
};

struct InternedText {
  enum class Kind : uint8_t { kCategory, kEventName, kAnnotationName, kString };
  Kind kind = Kind::kString;
  Name name;
};

struct Thread {
  int64_t pid = 0, tid = 0;
  std::string_view name;
  std::optional<int64_t> reference_us;
};

struct Process {
  int64_t pid = 0;
  std::string_view name;
};

struct Descriptor {
  uint64_t uuid = 0;
  std::optional<uint64_t> parent;
  std::string_view name;
  std::optional<Process> process;
  std::optional<Thread> thread;
  bool is_counter = false, is_incremental = false;
  int64_t unit_multiplier = 1;
  std::string_view unit;
};

struct ClockReading {
  uint32_t id = 0;
  uint64_t time = 0;
  uint64_t unit_ns = 1;
  bool is_incremental = false;
};

struct PacketDefaults {
  std::optional<uint64_t> track;
  std::optional<uint32_t> clock;
  std::vector<uint64_t> extra_tracks, extra_double_tracks;
};

struct Packet {
  std::optional<uint64_t> time;
  std::optional<uint32_t> clock;
  uint32_t sequence = 0;
  bool state_cleared = false, needs_state = false, dropped_before = false;
  std::optional<uint32_t> primary_clock;
  std::vector<ClockReading> clocks;
  std::vector<InternedText> interned;
  std::optional<PacketDefaults> defaults;
  std::optional<Descriptor> descriptor;
  std::optional<Thread> thread;  // old form: of the whole sequence
  bool has_event = false;
  Event event;
  std::string_view compressed;  // more packets, as zlib

  // Whether it holds anything of the above but the first three.
  bool is_of_use = false;

  void Clear();
};

// False when the bytes are no packet: a field is cut, has an unknown wire type, or dictionaries
// nest deeper than any program writes. `packet` is then half filled. Fields that we do not know, or
// with another type than they have, are passed over.
bool ParsePacket(std::string_view bytes, Packet& packet);

}  // namespace debrief::inputs::perfetto
