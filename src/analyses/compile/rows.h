// Rows made from rows: what the analyses of compile logs have in common.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "analyses/analysis.h"
#include "model/finding.h"
#include "model/model.h"
#include "tables/compile_entry.h"

namespace debrief {

inline constexpr size_t kNoRow = ~size_t{0};

// Makes `row` one about the same process as row `at` of `table`: job, attempt, rank and input, and
// life where both have one.
template <typename Row, typename Table>
void SetProcess(const Table& table, size_t at, Row& row) {
  row.job = table.job[at];
  row.attempt = table.attempt[at];
  row.rank = table.rank[at];
  row.input = table.input[at];
  if constexpr (requires { row.life = table.life[at]; }) row.life = table.life[at];
}

// A row about the same process as row `at` of `table`.
template <typename Row, typename Table>
Row RowLike(const Table& table, size_t at) {
  Row row;
  SetProcess(table, at, row);
  return row;
}

// The same of an entry, and which entry it is.
template <typename Row, typename Table>
Row RowOfEntry(const Table& table, size_t at) {
  Row row = RowLike<Row>(table, at);
  row.entry = table.entry[at];
  return row;
}

// The process that a row is about: input, rank, life.
using Process = std::tuple<int32_t, int32_t, int32_t>;

template <typename Table>
Process ProcessOf(const Table& table, size_t at) {
  return {table.input[at], table.rank[at], table.life[at]};
}

// An entry with several kinds of content has several rows: whether this is the first of them.
inline bool BeginsEntry(const CompileEntryTable& entries, size_t row) {
  return row == 0 || entries.entry[row] != entries.entry[row - 1] ||
         entries.input[row] != entries.input[row - 1];
}

template <typename Table>
Identity IdentityOf(const Table& table, size_t at) {
  return {.input = table.input[at],
          .job = table.job[at],
          .attempt = table.attempt[at],
          .rank = table.rank[at]};
}

// Rows of tables that were made from entries come in the order of the entries: one pass over both
// finds the entry of each.
class EntryCursor {
 public:
  explicit EntryCursor(const CompileEntryTable& entries) : entries_(entries) {}

  // The first row of the entry; kNoRow when there is none, or when it lies behind one asked before.
  size_t Find(int32_t input, int64_t entry) {
    const std::pair key(input, entry);
    while (row_ < entries_.size() && Key() < key) ++row_;
    return row_ < entries_.size() && Key() == key ? row_ : kNoRow;
  }

 private:
  std::pair<int32_t, int64_t> Key() const { return {entries_.input[row_], entries_.entry[row_]}; }

  const CompileEntryTable& entries_;
  size_t row_ = 0;
};

// Texts as ids of the result. Nothing and the empty text are none.
class ResultTexts {
 public:
  ResultTexts(const Pools& from, Pools& to) : from_(from), to_(to) {}

  StringId operator()(std::string_view text) {
    return text.empty() ? StringId::kNone : to_.Intern(text);
  }

  // Of the model: there are few of them, and many rows.
  StringId operator()(StringId id) {
    if (id == StringId::kNone) return id;
    auto [at, is_new] = known_.try_emplace(id, StringId::kNone);
    if (is_new) at->second = to_.Intern(from_.Text(id));
    return at->second;
  }

 private:
  const Pools& from_;
  Pools& to_;
  std::unordered_map<StringId, StringId> known_;
};

// What texts mean, asked once for each: there are few of them, and many rows.
template <typename Answer>
class AskOnce {
 public:
  AskOnce(const Pools& pools, Answer (*ask)(std::string_view text)) : pools_(pools), ask_(ask) {}

  const Answer& operator()(StringId id) {
    if (last_ != nullptr && id == last_id_) return *last_;
    auto [at, is_new] = known_.try_emplace(id);
    if (is_new) at->second = ask_(pools_.Text(id));
    last_id_ = id;
    return *(last_ = &at->second);
  }

 private:
  const Pools& pools_;
  Answer (*ask_)(std::string_view text);
  std::unordered_map<StringId, Answer> known_;
  StringId last_id_ = StringId::kNone;
  const Answer* last_ = nullptr;
};

// The `run` of an analysis that is one pass: Pass(model, part).Run().
template <typename Pass>
Status RunPass(const Model& model, AnalysisResult& result) {
  if constexpr (std::is_void_v<decltype(std::declval<Pass>().Run())>) {
    Pass(model, result.part).Run();
    return {};
  } else {
    return Pass(model, result.part).Run();
  }
}

// What a pass over the entries of all logs has at hand.
class EntryPass {
 protected:
  EntryPass(const Model& model, Part& part)
      : model_(model),
        entries_(model.tables.Get<CompileEntryTable>()),
        part_(part),
        texts_(model.pools, part.pools) {}

  std::string_view Text(StringId id) const { return model_.pools.Text(id); }

  const Model& model_;
  const CompileEntryTable& entries_;
  Part& part_;
  ResultTexts texts_;
};

// A finding about one attempt of a job.
inline Finding NewFinding(std::string_view rule, int32_t job, int32_t attempt,
                          Severity severity = Severity::kInfo, Role role = Role::kObservation) {
  Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.role = role;
  finding.job = job;
  finding.attempt = attempt;
  return finding;
}

// The first 16 of some names, each once.
class FirstNames {
 public:
  void Add(std::string_view name) {
    constexpr size_t kMost = 16;
    if (names_.size() < kMost && std::find(names_.begin(), names_.end(), name) == names_.end())
      names_.push_back(name);
  }
  std::string Joined() const { return fmt::format("{}", fmt::join(names_, ", ")); }

 private:
  std::vector<std::string_view> names_;
};

// `ranks` as a list of the result.
template <typename Ranks>
ListId InternRanks(const Ranks& ranks, Part& part) {
  return part.pools.lists.Intern(std::vector<int64_t>(ranks.begin(), ranks.end()));
}

// Keeps `ranks` sorted, each once. Logs come in the order of ranks, so this is nearly always at the
// end.
inline void AddRank(std::vector<int32_t>& ranks, int32_t rank) {
  if (rank == kNone32) return;
  auto at = std::lower_bound(ranks.begin(), ranks.end(), rank);
  if (at == ranks.end() || *at != rank) ranks.insert(at, rank);
}

}  // namespace debrief
