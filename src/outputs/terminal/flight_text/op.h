// One entry of a dump as PyTorch's analyzer sees it, and its comparison of two entries.
//
// The rules are the analyzer's, newest version: any backend is taken, receives from anybody match
// any sender, and list forms of all_gather and reduce_scatter are checked by their total size.
// What it raises is a Status here (PythonError). Text stays in the model's pools; an entry is
// copied freely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "model/model.h"

namespace debrief::outputs::flight_text {

struct Entry {
  size_t row = 0;         // of comm_op
  int32_t group = -1;     // of Dumps::groups; -1: the rank's dump does not list the group
  int32_t stack_id = -1;  // as -j numbers stacks
  int32_t record = 0;
  int32_t collective_seq = 0;
  int32_t p2p_seq = 0;
  bool is_p2p = false;
  int32_t src = kNone32;  // ranks of the group; none: anybody, or not a send or receive
  int32_t dst = kNone32;
  int64_t created_ns = 0;
  StackId stack = StackId::kNone;
  std::string_view group_name;
  std::string_view group_desc;
  std::string_view backend;
  std::string_view op;
  std::string_view state;
  std::string_view input_sizes;
  std::string_view output_sizes;
  std::string_view input_dtypes;
  std::string_view output_dtypes;
};

// Row `row` of comm_op; `group` is not set.
Entry ReadEntry(const Model& model, size_t row);

bool IsP2p(std::string_view op);
// nccl:all_reduce, nccl:send 0->1
std::string ProfilingName(const Entry& entry);
// 7:mesh_dp; 7 when the description is "undefined"
std::string GroupText(const Entry& entry);

enum class MatchState : uint8_t {
  kFullyMatched,
  kTypeMismatch,
  kSizeMismatch,
  kStateMismatch,
  kDtypeMismatch,
  kUndecided,
};
std::string_view MatchStateName(MatchState state);

struct MatchInfo {
  MatchState state = MatchState::kFullyMatched;
  std::string detail;

  // Neither equal nor undecided.
  bool IsError() const {
    return state != MatchState::kFullyMatched && state != MatchState::kUndecided;
  }
  // Error type: NAME, detail
  std::string Text() const;
};

// How `b` fits to `a`, which is taken to be right. Both are on a group of `group_size` ranks.
Result<MatchInfo> Match(const Entry& a, const Entry& b, size_t group_size);

// Whether the analyzer knows such an entry at all.
Status CheckEntry(const Entry& entry, size_t group_size);

// Elements of each tensor of a list of shapes, "[[4, 4], [8]]" -> 16, 8. The shape [] has 1.
std::vector<int64_t> Elements(std::string_view sizes);

// An exception of the analyzer, "AssertionError: ...": the last line of its traceback.
Status PythonError(std::string_view type, std::string_view text);

}  // namespace debrief::outputs::flight_text
