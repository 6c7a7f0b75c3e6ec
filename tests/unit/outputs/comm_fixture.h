// A hung job in a model, as the importer and the matching analysis would fill it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "tables/comm_call.h"
#include "tables/comm_match.h"
#include "tables/comm_op.h"
#include "tables/first_incomplete.h"

namespace debrief {

class CommJob {
 public:
  explicit CommJob(Model& model) : model_(model) {}

  ListId Ranks(const std::vector<int64_t>& ranks) {
    return ranks.empty() ? ListId::kNone : model_.pools.lists.Intern(ranks);
  }

  // One op of `rank`; returns its row. Change the row in the table for what is special.
  int64_t Op(int32_t rank, std::string_view group, const std::vector<int64_t>& members, int32_t seq,
             std::string_view state) {
    CommOpRow row;
    row.job = row.attempt = 0;
    row.rank = row.input = rank;
    row.group_name = model_.pools.Intern(group);
    row.group_desc = model_.pools.Intern("mesh_dp");
    row.members = Ranks(members);
    row.op = model_.pools.Intern("all_reduce");
    row.collective_seq = row.record = seq;
    row.input_sizes = row.output_sizes = model_.pools.Intern("[[4, 4]]");
    row.input_dtypes = row.output_dtypes = model_.pools.Intern("Float");
    row.state = model_.pools.Intern(state);
    row.created_ns = kStart + seq * int64_t{1'000'000} + rank;
    if (state == "completed") row.completed_ns = row.created_ns + 500'500;
    ops().Add(row);
    return static_cast<int64_t>(ops().size()) - 1;
  }

  // A match of the members: those of `missing` (sorted) never issued it, the others are in `state`.
  int64_t Match(std::string_view group, const std::vector<int64_t>& members, int32_t seq,
                std::string_view state, const std::vector<int64_t>& missing = {}) {
    CommMatchRow row;
    row.job = row.attempt = 0;
    row.match = static_cast<int64_t>(matches().size());
    row.group_name = model_.pools.Intern(group);
    row.group_desc = model_.pools.Intern("mesh_dp");
    row.role = model_.pools.Intern("dp");
    row.members = Ranks(members);
    row.kind = model_.pools.Intern("collective");
    row.seq = seq;
    row.op = model_.pools.Intern("all_reduce");
    std::vector<int64_t> joined;
    for (int64_t rank : members) {
      if (std::binary_search(missing.begin(), missing.end(), rank)) continue;
      joined.push_back(rank);
      calls().Add(Call(Op(static_cast<int32_t>(rank), group, members, seq, state), row.match));
    }
    row.joined = Ranks(joined);
    row.missing = Ranks(missing);
    if (state == "completed") row.completed = row.joined;
    row.status = model_.pools.Intern(!missing.empty()       ? "waiting"
                                     : state == "completed" ? "completed"
                                                            : "running");
    matches().Add(row);
    return row.match;
  }

  CommOpTable& ops() { return model_.tables.Edit<CommOpTable>(); }
  CommMatchTable& matches() { return model_.tables.Edit<CommMatchTable>(); }
  CommCallTable& calls() { return model_.tables.Edit<CommCallTable>(); }

  static constexpr int64_t kStart = 1'760'000'000'000'000'000;

 private:
  CommCallRow Call(int64_t op_row, int64_t match) {
    CommCallRow row;
    row.job = row.attempt = 0;
    row.rank = ops().rank[static_cast<size_t>(op_row)];
    row.op_row = static_cast<int32_t>(op_row);
    row.match = static_cast<int32_t>(match);
    return row;
  }

  Model& model_;
};

}  // namespace debrief
