// What pickle and JSON dumps have in common: from fields to rows of the comm_ tables.
//
//   DumpRows rows(who, part);
//   rows.Name(profiling_name, row);          // backend, op, src, dst
//   rows.ops().Add(row);
//   FinishDump(part, who, header);           // once per file: members of entries, the comm_dump
//   row
//
// The pieces of a dump come in any order (Python writes dicts as they were filled, JSON sorts
// keys), so members are joined to entries at the end of the file, by the group's name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inputs/flight_recorder/member_lists.h"
#include "inputs/importer.h"
#include "model/model.h"
#include "tables/comm_op.h"

namespace debrief::inputs::flight_recorder {

class DumpRows {
 public:
  DumpRows(const Identity& who, Part& part)
      : who_(who), part_(part), ops_(part.tables.Edit<CommOpTable>()) {}

  CommOpTable& ops() { return ops_; }
  CommOpRow NewOp() const;

  // "nccl:send 1->2" fills backend, op, src and dst. `name` is an id of the part's pools. True when
  // it is a send or a receive.
  bool Name(StringId name, CommOpRow& row);

  // "name (id)", or whichever there is.
  StringId Thread(StringId name, StringId id);

  void AddGroup(StringId name, StringId description, const MemberList& members);

  void AddStatus(int64_t pg_id, int64_t enqueued, int64_t started, int64_t completed);

 private:
  struct OpName {
    StringId backend = StringId::kNone;
    StringId op = StringId::kNone;
    int32_t src = kNone32;
    int32_t dst = kNone32;
    bool is_p2p = false;
  };
  OpName ParseName(std::string_view name);

  Identity who_;
  Part& part_;
  CommOpTable& ops_;
  std::vector<uint32_t> name_at_;  // by StringId: 1 + position in names_, 0 when not parsed yet
  std::vector<OpName> names_;
  StringId thread_name_ = StringId::kNone;
  StringId thread_id_ = StringId::kNone;
  StringId thread_ = StringId::kNone;
};

// The keys beside the entries.
struct DumpHeader {
  std::string version;  // empty when the dump has none
  std::string library;
  std::string_view form;
  bool whole = true;
};

// A text of digits as a number; kNone64 when it is something else.
int64_t NumberOf(std::string_view text);
// Values that mean "none" in one form or the other.
inline int64_t TimeOrNone(int64_t time_ns) { return time_ns == 0 ? kNone64 : time_ns; }
int64_t MillisToNs(double millis);
int64_t MicrosToNs(int64_t micros);
// A line number; 0 for what is none.
inline int32_t LineOf(int64_t line) {
  return line == static_cast<int32_t>(line) ? static_cast<int32_t>(line) : 0;
}

void FinishDump(Part& part, const Identity& who, const DumpHeader& header);

// Which of several dumps of one rank to keep.
//
// A process may have several recorders, one per kind of backend (nccl beside gloo): those are all
// kept. Of several dumps of one recorder the richest is kept: stacks first, then more entries, then
// the one that was read to its end.
void Settle(std::span<Twin> twins);

}  // namespace debrief::inputs::flight_recorder
