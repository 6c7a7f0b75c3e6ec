// What the pages of one tree look up: rows of the model by entry and by compilation, and frames as
// HTML. Made once for a tree, in one pass over the rows of its log; then const, and used by any
// number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/pools/ids.h"
#include "compat/tlparse/plan.h"
#include "model/model.h"
#include "tables/compile_entry.h"
#include "tables/compile_metrics.h"
#include "tables/compile_restart.h"
#include "tables/compile_shape.h"

namespace debrief::outputs::tlparse_tree {

// Frames of stacks as HTML, each made once: a log of 2,000 compilations shows the same few hundred
// frames 240,000 times.
class FrameTexts {
 public:
  // `dumps`: paths of dumped files in the tree; a frame in one of them links to it. `source_link`:
  // where all others link to, with {path} and {line}; empty for nowhere. `source_strip`: a prefix
  // that {path} goes without. All must outlive this.
  FrameTexts(const Pools& pools, const std::unordered_set<std::string_view>& dumps,
             std::string_view source_link, std::string_view source_strip)
      : pools_(pools), dumps_(dumps), source_link_(source_link), source_strip_(source_strip) {}

  void Add(std::span<const FrameId> frames);

  // From here on const, for any number of threads. `root` is the way to the root of the tree.
  void AppendFrame(FrameId frame, std::string_view root, std::string& out) const;
  // The package that a frame is of; empty for the reader's own program.
  std::string_view PackageOfFrame(FrameId frame) const;
  // A list, outermost frame first; `frames` are innermost first, as in the model. Runs of frames of
  // one package are folded away, unless there are no others.
  void AppendStack(std::span<const FrameId> frames, std::string_view root, std::string& out) const;
  // The same, folded away under `caption`.
  void AppendFolded(std::string_view caption, std::span<const FrameId> frames,
                    std::string_view root, std::string& out) const;

 private:
  // What stands before the way to the root of the tree, and behind it: nothing, when the frame
  // links to no file of the tree.
  struct Text {
    std::string before, behind;
    std::string_view package;
  };

  Text Make(const Frame& frame) const;
  void AppendSourceLink(std::string_view file, int32_t line, std::string& out) const;

  const Pools& pools_;
  const std::unordered_set<std::string_view>& dumps_;
  std::string_view source_link_, source_strip_;
  std::unordered_map<FrameId, Text> made_;
};

// Rows of a table that belong to `input`. Rows come in the order of inputs: parts are joined in it.
template <typename Table>
auto RowsOfInput(const Table& table, int32_t input) {
  auto [first, last] = std::equal_range(table.input.begin(), table.input.end(), input);
  return std::views::iota(static_cast<size_t>(first - table.input.begin()),
                          static_cast<size_t>(last - table.input.begin()));
}

// Of these the rows of one entry: entries are numbered by their place in the log, and rows come in
// its order.
template <typename Table>
auto RowsOfEntry(const Table& table, int32_t input, int64_t entry) {
  const auto rows = RowsOfInput(table, input);
  auto at = [&](auto row) { return table.entry.begin() + static_cast<std::ptrdiff_t>(*row); };
  auto [first, last] = std::equal_range(at(rows.begin()), at(rows.end()), entry);
  return std::views::iota(static_cast<size_t>(first - table.entry.begin()),
                          static_cast<size_t>(last - table.entry.begin()));
}

// An entry with several kinds of content has a row for each: the one of this kind.
template <typename Table>
std::optional<size_t> RowOfKind(const Table& table, int32_t input, int64_t entry, StringId kind) {
  for (size_t row : RowsOfEntry(table, input, entry)) {
    if (table.kind[row] == kind) return row;
  }
  return std::nullopt;
}

class PageContext {
 public:
  // All three must outlive it.
  PageContext(const Model& model, const TreePlan& plan, const TreeOptions& options);
  PageContext(const PageContext&) = delete;
  PageContext& operator=(const PageContext&) = delete;

  const Model& model;
  const TreePlan& plan;
  const TreeOptions& options;
  const CompileEntryTable& entries;
  const CompileMetricsTable& metrics;
  const CompileRestartTable& restarts;
  const CompileShapeTable& shapes;

  std::string_view Text(StringId id) const { return model.pools.Text(id); }
  // A text of the string table of the process that logged this row; "(unknown)" without one.
  std::string_view InternedText(size_t entry_row, int64_t number) const;
  const FrameTexts& frames() const { return frames_; }
  // Where the index lists the compilation of a file; empty when it belongs to none.
  std::string_view AnchorOf(const TreeFile& file) const;
  // Rows of table compilation that the tree is about, in the order of the log.
  std::span<const size_t> compilation_rows() const { return compilation_rows_; }

  // What every page of a compilation links to, as places in its listing; -1 where it has none.
  struct Shortcuts {
    int32_t graph = -1, code = -1, metrics = -1;
  };
  // By the number of the compilation in the plan.
  const Shortcuts& ShortcutsOf(int32_t compilation) const {
    return shortcuts_[static_cast<size_t>(compilation)];
  }

  // Rows of compile_metrics and compile_shape of the tree, in the order of the log.
  std::span<const size_t> metrics_rows() const { return metrics_rows_; }
  std::span<const size_t> shape_rows() const { return shape_rows_; }

  // Whether the tree is about this entry, and the first row of compile_entry that tells of it.
  std::optional<size_t> RowOf(int64_t entry) const;
  // The row of compile_metrics that a row of compile_entry has, and the way back.
  std::optional<size_t> MetricsOf(size_t entry_row) const {
    return RowOfKind(metrics, plan.input, entries.entry[entry_row], entries.kind[entry_row]);
  }
  std::optional<size_t> EntryRowOf(size_t metrics_row) const;
  // The row of compile_shape of a row of compile_entry.
  std::optional<size_t> ShapeOf(size_t entry_row) const {
    return RowOfKind(shapes, plan.input, entries.entry[entry_row], entries.kind[entry_row]);
  }
  // The row of compile_shape that made expression `node`: the last one before `entry`.
  std::optional<size_t> ExpressionBefore(int64_t node, int64_t entry) const;
  // Path of the metrics page of a row of compile_metrics; empty when it has none.
  std::string_view MetricsPath(size_t metrics_row) const;
  // Rows of compile_restart of an entry.
  auto RestartsOf(int64_t entry) const { return RowsOfEntry(restarts, plan.input, entry); }
  // The stacks with which the entry of a row of compile_shape was logged, folded away.
  void AppendStacks(size_t shape_row, std::string_view root, std::string& out) const;
  // Specialisations and fast guards that the metrics page of `entry` shows: those of its
  // compilation, whatever the attempt, that no earlier page has shown.
  std::span<const size_t> ShapesOf(int64_t entry) const;
  // The stack at which the compilation of this row began; the last of its attempts.
  StackId StartOf(size_t entry_row) const;

  using Key = std::pair<int32_t, std::string_view>;  // life, compile id without attempt
  Key KeyOf(size_t entry_row) const;

 private:
  // Where rows of this entry begin in rows_.
  size_t FirstOf(int64_t entry) const;
  void IndexStrings();
  void IndexEntries();
  void IndexMetrics();
  void IndexShapes();
  void IndexCompilations();
  void AddShape(size_t row);
  void AddStack(StackId stack);

  std::unordered_set<std::string_view> dumps_;
  FrameTexts frames_;
  std::unordered_set<StackId> added_;
  std::vector<size_t> metrics_rows_;
  std::vector<size_t> shape_rows_;
  std::vector<size_t> compilation_rows_;
  std::vector<Shortcuts> shortcuts_;  // parallel to the plan's compilations
  PackedColumn<size_t> rows_;         // of the tree, without events
  std::unordered_map<int64_t, std::vector<size_t>> expressions_;  // node -> rows of compile_shape
  std::unordered_map<size_t, std::string_view> metrics_paths_;    // by row of compile_entry
  std::map<std::tuple<int32_t, int32_t, int64_t>, StringId> strings_;  // rank, life, number
  std::unordered_map<int64_t, std::vector<size_t>> shapes_of_;         // by entry
  std::map<Key, StackId> starts_;
};

}  // namespace debrief::outputs::tlparse_tree
