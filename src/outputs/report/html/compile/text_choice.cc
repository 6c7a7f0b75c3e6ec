#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "model/compile/frames.h"
#include "outputs/report/html/compile/texts.h"
#include "tables/compilation.h"
#include "tables/compile_entry.h"
#include "tables/provenance_graph.h"

namespace debrief::outputs::html {

namespace {

// Compilations and entries that a reader is likely to open.
class Important {
 public:
  explicit Important(const Model& model) : model_(model) {
    TakeCompilations();
    TakeFindings();
    TakeMapped();
  }

  bool Has(const CompileEntryTable& entries, size_t row) const {
    if (entries_.contains(Entry(entries.input[row], entries.entry[row]))) return true;
    const std::string_view id = WithoutAttempt(model_.pools.Text(entries.compile_id[row]));
    return compilations_.contains(
               Compilation(entries.input[row], entries.rank[row], entries.life[row], id)) ||
           named_.contains(Named(entries.job[row], entries.rank[row], id)) ||
           named_.contains(Named(entries.job[row], kNone32, id));
  }

 private:
  static std::string Entry(int32_t input, int64_t entry) {
    return fmt::format("{}:{}", input, entry);
  }
  static std::string Compilation(int32_t input, int32_t rank, int32_t life, std::string_view id) {
    return fmt::format("{}:{}:{}:{}", input, rank, life, id);
  }
  static std::string Named(int32_t job, int32_t rank, std::string_view id) {
    return fmt::format("{}:{}:{}", job, rank, id);
  }

  void TakeCompilations() {
    const auto& all = model_.tables.Get<CompilationTable>();
    auto take = [&](size_t i, StringId id) {
      compilations_.insert(
          Compilation(all.input[i], all.rank[i], all.life[i], model_.pools.Text(id)));
    };
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string_view outcome = model_.pools.Text(all.outcome[i]);
      const bool ended_badly = outcome == "failed" || outcome == "unfinished" || all.is_last[i];
      if (ended_badly || all.number[i] > 0) take(i, all.compile_id[i]);
      if (all.number[i] > 0 && all.previous_id[i] != StringId::kNone) take(i, all.previous_id[i]);
    }
  }

  void TakeFindings() {
    for (const Finding& finding : model_.findings) {
      for (const std::string& id : finding.compile_ids) {
        if (finding.ranks.empty()) named_.insert(Named(finding.job, kNone32, WithoutAttempt(id)));
        for (const int32_t rank : finding.ranks)
          named_.insert(Named(finding.job, rank, WithoutAttempt(id)));
      }
    }
  }

  // The graphs and the code that are shown side by side.
  void TakeMapped() {
    const auto& graphs = model_.tables.Get<ProvenanceGraphTable>();
    for (size_t i = 0; i < graphs.size(); ++i) {
      for (const int64_t entry :
           {graphs.pre_entry[i], graphs.post_entry[i], graphs.python_entry[i], graphs.cpp_entry[i]})
        if (graphs.mapped[i] && entry != kNone64) entries_.insert(Entry(graphs.input[i], entry));
    }
  }

  const Model& model_;
  std::unordered_set<std::string> compilations_, named_, entries_;
};

// Rows of one entry share its payload; the first that is shown stands for it.
bool IsText(const Model& model, const CompileEntryTable& entries, size_t row) {
  if (entries.payload_bytes[row] <= 0) return false;
  const bool is_repeated = row > 0 && entries.input[row - 1] == entries.input[row] &&
                           entries.entry[row - 1] == entries.entry[row];
  return !is_repeated && model.pools.Text(entries.kind[row]) != "chromium_event";
}

// Payloads with the same number are equal.
uint64_t ContentOf(const CompileEntryTable& entries, size_t row) {
  constexpr uint64_t kAlone = uint64_t{1} << 63;
  const bool is_known = entries.payload_ok[row] && entries.payload_md5[row] != StringId::kNone;
  return is_known ? static_cast<uint64_t>(entries.payload_md5[row]) : kAlone | row;
}

void Collect(const Model& model, size_t most, TextChoice& choice) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  const Important important(model);
  std::unordered_map<uint64_t, size_t> known;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (!IsText(model, entries, row)) continue;
    if (choice.artifacts.size() == most) {
      ++choice.artifacts_left_out;
      continue;
    }
    const auto [at, is_new] = known.try_emplace(ContentOf(entries, row), choice.texts.size());
    if (is_new) choice.texts.push_back({.row = row, .bytes = entries.payload_bytes[row]});
    choice.artifacts.push_back({row, at->second});
    DistinctText& text = choice.texts[at->second];
    text.important = text.important || important.Has(entries, row);
  }
}

}  // namespace

TextChoice ChooseTexts(const Model& model, const TextLimits& limits) {
  TextChoice choice;
  Collect(model, limits.artifacts, choice);
  std::vector<size_t> smallest_first(choice.texts.size());
  for (size_t i = 0; i < smallest_first.size(); ++i) smallest_first[i] = i;
  std::stable_sort(smallest_first.begin(), smallest_first.end(), [&](size_t a, size_t b) {
    return choice.texts[a].bytes < choice.texts[b].bytes;
  });
  int64_t taken = 0;
  auto take = [&](int64_t most, bool all) {
    for (const size_t i : smallest_first) {
      DistinctText& text = choice.texts[i];
      const int64_t bytes = std::min(text.bytes, limits.one);
      if (text.chosen || (!all && !text.important) || taken + bytes > most) continue;
      text.chosen = true;
      taken += bytes;
    }
  };
  take(limits.important, /*all=*/false);
  take(limits.all, /*all=*/true);
  return choice;
}

}  // namespace debrief::outputs::html
