#include "inputs/nccl_ras/answer.h"

#include <map>
#include <tuple>

#include "tables/ras_comm.h"
#include "tables/ras_rank.h"

namespace debrief::inputs::nccl_ras {

namespace {

using Device = std::tuple<std::string_view, int64_t, int32_t>;  // host, process, GPU

class GlobalRanks {
 public:
  explicit GlobalRanks(const RasAnswer& answer) : gpus_(answer.gpus) {
    for (const RasRank& rank : answer.ranks) {
      bool known = IsOfWholeJob(rank) && rank.pid != kNone64;
      if (known) ranks_.try_emplace({rank.host, rank.pid, rank.gpu}, rank.comm_rank);
    }
  }

  int32_t Of(const RasRank& rank) const {
    if (IsOfWholeJob(rank)) return rank.comm_rank;
    if (rank.pid == kNone64) return kNone32;
    auto found = ranks_.lower_bound({rank.host, rank.pid, rank.gpu});
    if (found == ranks_.end()) return kNone32;
    const auto& [host, pid, gpu] = found->first;
    bool same = host == rank.host && pid == rank.pid && (rank.gpu == kNone32 || gpu == rank.gpu);
    return same ? found->second : kNone32;
  }

 private:
  bool IsOfWholeJob(const RasRank& rank) const {
    return rank.comm_rank != kNone32 && gpus_ != kNone32 && rank.comm_size == gpus_;
  }

  int32_t gpus_;
  std::map<Device, int32_t> ranks_;
};

}  // namespace

void AddAnswer(const Identity& who, const RasAnswer& answer, Part& part) {
  Identity job = who;
  job.rank = kNone32;  // an answer is about all ranks, whatever the name of its file
  for (const RasComm& comm : answer.comms) {
    auto row = Part::RowOf<RasCommRow>(job);
    row.input = who.input;
    row.line = comm.line;
    row.time_ns = answer.time_ns;
    row.snapshot = answer.snapshot;
    row.comm = part.pools.InternOrNone(comm.hash);
    row.comms = comm.comms;
    row.comm_size = comm.size;
    row.missing = comm.missing;
    row.status = part.pools.InternOrNone(comm.status);
    row.errors = part.pools.InternOrNone(comm.errors);
    part.tables.Edit<RasCommTable>().Add(row);
  }
  GlobalRanks global(answer);
  for (const RasRank& rank : answer.ranks) {
    auto row = Part::RowOf<RasRankRow>(job);
    row.rank = global.Of(rank);
    row.input = who.input;
    row.line = rank.line;
    row.time_ns = answer.time_ns;
    row.snapshot = answer.snapshot;
    row.comm = part.pools.InternOrNone(rank.hash);
    row.comm_size = rank.comm_size;
    row.comm_rank = rank.comm_rank;
    row.ranks = rank.ranks;
    row.host = part.pools.InternOrNone(rank.host);
    row.pid = rank.pid;
    row.gpu = rank.gpu;
    row.state = part.pools.Intern(rank.state);
    row.op = part.pools.InternOrNone(rank.op);
    row.count = rank.count;
    row.text = part.pools.InternOrNone(rank.text);
    part.tables.Edit<RasRankTable>().Add(row);
  }
}

}  // namespace debrief::inputs::nccl_ras
