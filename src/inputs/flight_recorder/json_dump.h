// Dumps as JSON: what the debug server and _dump_nccl_trace_json give.
//
// Entries have the keys of the pickle with a few differences: as a rule no frames, numbers of
// pg_status in quotes, 0 for a time that is not known. Keys are sorted, so members of groups come
// behind the entries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/source.h"
#include "base/json/array_splitter.h"
#include "base/json/cursor.h"
#include "inputs/flight_recorder/comm_state.h"
#include "inputs/flight_recorder/dump.h"

namespace debrief::inputs::flight_recorder {

class JsonDump {
 public:
  explicit JsonDump(const Identity& who) : who_(who) {}

  // Batches of entries; reads the other keys as well.
  Result<std::vector<ByteRange>> Split(const Source& source, uint64_t chunk_bytes);
  // One batch. An entry whose JSON is broken is left out, with a diagnostic.
  void Read(std::string_view text, uint64_t offset, Part& part) const;
  // Groups, counters and the comm_dump row.
  void Finish(Part& whole);

 private:
  struct Group {
    std::string name;
    std::string description;
    bool has_description = false;
    MemberList members;
  };
  struct GroupStatus {
    int64_t pg_id = kNone64;
    int64_t enqueued = kNone64;
    int64_t started = kNone64;
    int64_t completed = kNone64;
  };

  void ReadOther(std::string_view key, std::string_view text);
  void ReadGroups(JsonValue config);
  void ReadStatuses(JsonValue status);
  void ReadCommStates(JsonValue states);

  Identity who_;
  JsonArraySplit split_;
  DumpHeader header_{.version = {}, .library = {}, .form = "json"};
  std::vector<Group> groups_;
  std::vector<GroupStatus> statuses_;
  std::vector<CommState> comm_states_;
};

}  // namespace debrief::inputs::flight_recorder
