// How fast collectives are shown: 512 ranks with 2000 entries each, all matched, as the timeline
// and as the data of the report's grid. The number of boxes and the size of the page's part are
// checked before a time is printed.
//
//   flight_output ops=1024000 timeline_s=1.234 grid_s=0.123 grid_bytes=123456
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>

#include "outputs/output.h"
#include "outputs/report/html/collectives/collectives.h"
#include "scratch_folder.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"

namespace debrief::outputs::flight_timeline {
const Output& Describe();
}

namespace debrief {
namespace {

constexpr int32_t kRanks = 512;
constexpr int32_t kEntries = 2000;
constexpr int32_t kGroupSize = 8;
constexpr int32_t kFrames = 12;

std::vector<int64_t> Members(int32_t group) {
  std::vector<int64_t> ranks;
  ranks.reserve(kGroupSize);
  for (int32_t i = 0; i < kGroupSize; ++i) ranks.push_back(group * kGroupSize + i);
  return ranks;
}

StackId Stack(Model& model) {
  std::vector<FrameId> frames;
  frames.reserve(kFrames);
  for (int32_t i = 0; i < kFrames; ++i) {
    frames.push_back(
        model.pools.AddFrame({.file = model.pools.Intern("/home/user/projects/trainer/train.py"),
                              .function = model.pools.Intern("train_step"),
                              .line = 50 + i}));
  }
  return model.pools.AddStack(frames);
}

// Rows are added rank by rank, as the importer does; match (group, sequence) has a number that both
// sides know.
void FillOps(Model& model) {
  const StackId stack = Stack(model);
  auto& ops = model.tables.Edit<CommOpTable>();
  auto& calls = model.tables.Edit<CommCallTable>();
  for (int32_t rank = 0; rank < kRanks; ++rank) {
    const int32_t group = rank / kGroupSize;
    CommOpRow row;
    row.job = row.attempt = 0;
    row.rank = row.input = rank;
    row.group_name = model.pools.Intern(std::to_string(group));
    row.group_desc = model.pools.Intern("mesh_tp");
    row.members = model.pools.lists.Intern(Members(group));
    row.op = model.pools.Intern("all_reduce");
    row.input_sizes = row.output_sizes = model.pools.Intern("[[4096, 1024]]");
    row.input_dtypes = row.output_dtypes = model.pools.Intern("BFloat16");
    row.stack = stack;
    for (int32_t seq = 0; seq < kEntries; ++seq) {
      const bool open = seq + 10 > kEntries;
      row.collective_seq = row.record = seq;
      row.state = model.pools.Intern(open ? "started" : "completed");
      row.created_ns = 1'760'000'000'000'000'000 + seq * 1'000'000LL + rank * 100;
      row.completed_ns = open ? kNone64 : row.created_ns + 1'500'000;
      CommCallRow call;
      call.op_row = static_cast<int32_t>(ops.size());
      call.match = static_cast<int32_t>(static_cast<int64_t>(group) * kEntries + seq);
      ops.Add(row);
      calls.Add(call);
    }
  }
}

void FillMatches(Model& model) {
  auto& matches = model.tables.Edit<CommMatchTable>();
  for (int32_t group = 0; group < kRanks / kGroupSize; ++group) {
    CommMatchRow row;
    row.job = row.attempt = 0;
    row.group_name = model.pools.Intern(std::to_string(group));
    row.group_desc = model.pools.Intern("mesh_tp");
    row.members = row.joined = model.pools.lists.Intern(Members(group));
    row.op = model.pools.Intern("all_reduce");
    for (int32_t seq = 0; seq < kEntries; ++seq) {
      const bool open = seq + 10 > kEntries;
      row.match = static_cast<int64_t>(group) * kEntries + seq;
      row.seq = seq;
      row.status = model.pools.Intern(open ? "running" : "completed");
      row.completed = open ? ListId::kNone : row.members;
      matches.Add(row);
    }
  }
}

size_t CountBoxes(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  size_t boxes = 0;
  while (std::getline(file, line)) boxes += line.starts_with("{\"ph\":\"X\"") ? 1 : 0;
  return boxes;
}

Status Run(const std::string& folder) {
  Model model;
  FillOps(model);
  FillMatches(model);
  const auto start = std::chrono::steady_clock::now();
  TRY(outputs::flight_timeline::Describe().write(model, {.folder = folder}));
  const auto written = std::chrono::steady_clock::now();
  const std::string grid = outputs::html::FlightJson(model, outputs::html::MakeGrids(model));
  const auto end = std::chrono::steady_clock::now();
  const size_t boxes = CountBoxes(folder + "/flight_timeline.json");
  if (boxes != size_t{kRanks} * kEntries || grid.size() > 2'000'000 || grid.size() < 50'000)
    return Status(Code::kInvalid, "wrong number of boxes or size of the grid");
  std::printf("flight_output ops=%zu timeline_s=%.3f grid_s=%.3f grid_bytes=%zu\n", boxes,
              std::chrono::duration<double>(written - start).count(),
              std::chrono::duration<double>(end - written).count(), grid.size());
  return {};
}

}  // namespace
}  // namespace debrief

int main() { return debrief::RunInScratchFolder("flight", debrief::Run); }
