// From the lines of a clog to entries as Flight Recorders have them: one for each operation that
// was asked for, with how far it came.
//
// Events name a signature (C7), not an operation: the first S of C7 belongs to its first Q, and so
// on, since operations of one signature are of one communicator and run in order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs/torchcomms_clog/clog_line.h"
#include "model/model.h"
#include "tables/comm_op.h"

namespace debrief::inputs::torchcomms_clog {

class ClogOps {
 public:
  ClogOps(const Identity& who, Part& part) : who_(who), part_(part) {}

  void Add(std::string_view text, int64_t number);
  // All rows; call once, at the end.
  void Finish();

 private:
  struct Comm {
    int32_t rank = kNone32;  // of this process
    int32_t size = kNone32;
    std::vector<int64_t> members;  // empty when no line tells
    int32_t collectives = 0;
    int32_t exchanges = 0;
  };
  struct SignatureOps {
    CommOpRow row;  // what all its operations have in common
    std::string comm;
    std::deque<int64_t> queued, started;  // positions of operations whose S, E has not come
  };

  void AddComm(const ClogLine& line);
  void AddSplit(const ClogLine& line);
  void AddSignature(const ClogLine& line);
  void SetPeer(const ClogLine& line, const Comm& comm, CommOpRow& row) const;
  void AddEnqueue(const ClogLine& line);
  void AddEvent(const ClogLine& line);
  void Forget();
  void AssumeStates();
  void AddGroups();
  StringId Intern(std::string_view text) { return part_.pools.Intern(text); }
  int64_t TimeOf(const ClogLine& line) const { return (head_ms_ + line.after_ms) * 1'000'000; }
  CommOpRow* RowAt(int64_t position);

  Identity who_;
  Part& part_;
  int64_t head_ms_ = 0;
  std::string version_;
  bool has_lifecycle_ = false;
  int64_t replays_ = 0;
  std::map<std::string, Comm, std::less<>> comms_;
  std::map<std::pair<int64_t, int64_t>, SignatureOps> signatures_;  // by graph and signature
  std::map<int64_t, std::pair<CommOpRow, std::string>> known_;      // row and communicator
  std::deque<CommOpRow> rows_;
  int64_t forgotten_ = 0;  // rows that were taken off the front
};

}  // namespace debrief::inputs::torchcomms_clog
