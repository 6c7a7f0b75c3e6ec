// nccl_comm_state of a dump: what NCCLX and RCCL say of each communicator. Every value is a text
// that holds JSON.
//
//   {"f3a1...": {"commHash": "\"f3a1...\"", "rank": "3", "nRanks": "8", "commDesc":
//   "\"default_pg\"",
//                "CT_currentColls": "[{\"opCount\": 41, \"opName\": \"AllReduce\", ...}]",
//                "PT_activeOps": "[{\"opCount\": 41, \"remoteRank\": 4, \"opType\": \"RECV\",
//                ...}]"}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json/cursor.h"
#include "model/model.h"
#include "tables/comm_state.h"

namespace debrief::inputs::flight_recorder {

class CommState {
 public:
  explicit CommState(std::string_view comm) : comm_(comm) {}

  // One key of the communicator. Keys that say nothing here are skipped, broken JSON too.
  void Add(std::string_view key, std::string_view value);

  void AddTo(const Identity& who, Part& part) const;

 private:
  struct Ops {
    int32_t count = 0;
    std::string first_op;
    int64_t first_number = kNone64;
    int64_t last_number = kNone64;
  };

  static Status ReadOps(JsonValue list, Ops& ops);
  static Status ReadOp(JsonValue value, Ops& ops);
  Status ReadPeers(JsonValue list);
  Status ReadPeer(JsonValue object);

  std::string comm_, description_, stage_;
  int32_t rank_ = kNone32, size_ = kNone32;
  int64_t iteration_ = kNone64;
  Ops current_, pending_, past_;
  std::vector<int64_t> peers_;
};

}  // namespace debrief::inputs::flight_recorder
