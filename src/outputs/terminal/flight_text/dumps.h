// The dumps of one attempt as PyTorch's analyzer holds them: entries by rank, and the groups.
//
// A group is known by its name and the hash of its members ("7-7510917002438189693"), because jobs
// give one name to several groups. Ranks come in order of number unless the caller names an order;
// the analyzer takes the order of the directory, which differs from machine to machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "model/model.h"
#include "outputs/terminal/flight_text/op.h"
#include "outputs/terminal/flight_text/python_set.h"

namespace debrief::outputs::flight_text {

struct DumpGroup {
  std::string key;  // name and hash
  std::string_view name;
  std::string_view desc;
  std::vector<int32_t> ranks;  // sorted: position is the rank within the group
  PythonSet members;
};

struct RankDump {
  int32_t rank = 0;
  std::string_view version;
  std::vector<Entry> entries;
};

struct LoadOptions {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  bool strict = true;         // what the analyzer refuses is an error
  bool align = true;          // drop entries that some rank no longer has
  bool transform_ft = false;  // members of default_pg are counted within a replica group
  int32_t group_world_size = 0;
  std::vector<int32_t> rank_order;  // ranks to take first, in this order
};

struct Dumps {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::vector<RankDump> ranks;
  std::vector<DumpGroup> groups;
  // (name of a group, rank) -> position in groups
  std::map<std::pair<std::string_view, int32_t>, int32_t> group_of;
  std::string version;
};

// Jobs and attempts that have dumps, in order.
std::vector<std::pair<int32_t, int32_t>> AttemptsWithDumps(const Model& model);

// Aligning is the analyzer's: entries with a record number below the largest first one go. Strict,
// it is an error when versions or descriptions differ.
Result<Dumps> LoadDumps(const Model& model, const LoadOptions& options);

// The decimal CPython hash of frozenset(ranks).
int64_t HashOfRanks(const std::vector<int32_t>& ranks);

// The analyzer's check that every member of every group left a dump.
Status CheckNoneMissing(const Dumps& dumps);

// {'name': 'step', 'filename': 'train.py', 'line': 52}, ... in brackets
std::string FramesAsPython(const Model& model, StackId stack);
// "step at train.py:52", one a line
std::string FramesAsLines(const Model& model, StackId stack);

// The analyzer's text of an entry: all_reduce(input_sizes=[[4]], state=completed). Fails where its
// sender or receiver is no member of `group`.
Result<std::string> EntryText(const Entry& entry, const DumpGroup& group, bool verbose);

}  // namespace debrief::outputs::flight_text
