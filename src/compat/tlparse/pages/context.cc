#include "compat/tlparse/pages/context.h"

#include <algorithm>

#include "base/text/escape.h"
#include "base/text/units.h"
#include "compat/tlparse/names.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"
#include "tables/compilation.h"
#include "tables/compile_string.h"
#include "tables/compile_trie_node.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::tlparse_tree {

namespace {

std::unordered_set<std::string_view> DumpPaths(const TreePlan& plan) {
  std::unordered_set<std::string_view> paths;
  for (const TreeFile& file : plan.files) {
    if (file.content == Content::kDump) paths.insert(file.path);
  }
  return paths;
}

}  // namespace

// The address that the user gave, with the path and the line of the frame in it. The address is the
// user's, the path is escaped.
void FrameTexts::AppendSourceLink(std::string_view file, int32_t line, std::string& out) const {
  if (file.starts_with(source_strip_)) file.remove_prefix(source_strip_.size());
  out += "<a href=\"";
  for (std::string_view rest = source_link_; !rest.empty();) {
    const bool is_path = rest.starts_with("{path}"), is_line = rest.starts_with("{line}");
    if (is_path) AppendText(Path{file}, out);
    if (is_line) Put(out, "{}", line);
    if (!is_path && !is_line) AppendHtml(out, rest.substr(0, 1));
    rest.remove_prefix(is_path || is_line ? 6 : 1);
  }
  out += "\">";
}

FrameTexts::Text FrameTexts::Make(const Frame& frame) const {
  Text text;
  std::string_view file = pools_.Text(frame.file);
  if (file.empty()) file = "(unknown)";
  const std::string dump = DumpPath(file);
  const bool linked = dumps_.contains(dump);
  const bool has_source = dump.empty() && !source_link_.empty() && frame.file != StringId::kNone;
  std::string& out = linked ? text.behind : text.before;
  if (linked) {
    text.before = "<a href=\"";
    Put(out, "{}#L{}\">", dump, frame.line);
  } else if (has_source) {
    AppendSourceLink(ShortPath(file), frame.line, out);
  }
  Put(out, "{}:{}{} in {}", ShortPath(file), frame.line, Raw{linked || has_source ? "</a>" : ""},
      pools_.Text(frame.function));
  if (dump.empty() && !pools_.Text(frame.text).empty())
    Put(out, "<i>{}</i>", pools_.Text(frame.text));
  if (dump.empty()) text.package = PackageOf(file);
  return text;
}

void FrameTexts::Add(std::span<const FrameId> frames) {
  for (FrameId frame : frames) {
    auto [found, is_new] = made_.try_emplace(frame);
    if (is_new) found->second = Make(pools_.GetFrame(frame));
  }
}

void FrameTexts::AppendFrame(FrameId frame, std::string_view root, std::string& out) const {
  auto found = made_.find(frame);
  if (found == made_.end()) return;
  out += found->second.before;
  if (found->second.behind.empty()) return;
  out += root;
  out += found->second.behind;
}

std::string_view FrameTexts::PackageOfFrame(FrameId frame) const {
  auto found = made_.find(frame);
  return found == made_.end() ? std::string_view() : found->second.package;
}

void FrameTexts::AppendStack(std::span<const FrameId> frames, std::string_view root,
                             std::string& out) const {
  const bool folds =
      std::ranges::any_of(frames, [&](FrameId frame) { return PackageOfFrame(frame).empty(); });
  out += "<ol class=\"stack\">\n";
  for (size_t end = frames.size(); end > 0;) {
    const std::string_view package = PackageOfFrame(frames[end - 1]);
    size_t begin = end - 1;
    while (begin > 0 && PackageOfFrame(frames[begin - 1]) == package) --begin;
    const bool folded = folds && !package.empty() && end - begin > 1;
    if (folded) AppendFold(end - begin, package, out);
    for (size_t i = end; i-- > begin;) {
      out += "<li>";
      AppendFrame(frames[i], root, out);
      out += "</li>\n";
    }
    if (folded) out += "</ol></details></li>\n";
    end = begin;
  }
  out += "</ol>\n";
}

void FrameTexts::AppendFolded(std::string_view caption, std::span<const FrameId> frames,
                              std::string_view root, std::string& out) const {
  if (frames.empty()) return;
  Put(out, "<details><summary>{} ({})</summary>", caption, Plural(frames.size(), "frame"));
  AppendStack(frames, root, out);
  out += "</details>";
}

PageContext::PageContext(const Model& model, const TreePlan& plan, const TreeOptions& options)
    : model(model),
      plan(plan),
      options(options),
      entries(model.tables.Get<CompileEntryTable>()),
      metrics(model.tables.Get<CompileMetricsTable>()),
      restarts(model.tables.Get<CompileRestartTable>()),
      shapes(model.tables.Get<CompileShapeTable>()),
      dumps_(DumpPaths(plan)),
      frames_(model.pools, dumps_, options.source_link, options.source_strip) {
  IndexStrings();
  IndexEntries();
  IndexMetrics();
  IndexShapes();
  IndexCompilations();
  for (const TreeFile& file : plan.files) {
    if (file.content == Content::kMetrics) metrics_paths_.emplace(file.row, file.path);
  }
}

void PageContext::AddStack(StackId stack) {
  if (stack == StackId::kNone || !added_.insert(stack).second) return;
  frames_.Add(model.pools.GetStack(stack));
}

PageContext::Key PageContext::KeyOf(size_t entry_row) const {
  return {entries.life[entry_row], WithoutAttempt(Text(entries.compile_id[entry_row]))};
}

void PageContext::IndexStrings() {
  const auto& table = model.tables.Get<CompileStringTable>();
  for (size_t row : RowsOfInput(table, plan.input)) {
    strings_[{table.rank[row], table.life[row], table.number[row]}] = table.text[row];
  }
}

std::string_view PageContext::AnchorOf(const TreeFile& file) const {
  if (file.compilation < 0) return {};
  return plan.compilations[static_cast<size_t>(file.compilation)].id;
}

std::string_view PageContext::InternedText(size_t entry_row, int64_t number) const {
  for (int32_t rank : {entries.rank[entry_row], kNone32}) {
    auto found = strings_.find({rank, entries.life[entry_row], number});
    if (found != strings_.end()) return Text(found->second);
  }
  return "(unknown)";
}

void PageContext::IndexEntries() {
  for (size_t row : plan.rows) {
    // Most entries are events, of which no page tells.
    bool is_event =
        entries.entry_stack[row] == StackId::kNone && Text(entries.kind[row]) == "chromium_event";
    if (is_event) continue;
    rows_.push_back(row);
    AddStack(entries.stack[row]);
    AddStack(entries.user_stack[row]);
    AddStack(entries.entry_stack[row]);
    if (entries.stack[row] != StackId::kNone && Text(entries.kind[row]) == "dynamo_start") {
      starts_[KeyOf(row)] = entries.stack[row];
    }
  }
  const auto& nodes = model.tables.Get<CompileTrieNodeTable>();
  for (size_t row : RowsOfInput(nodes, plan.input)) AddStack(nodes.frame[row]);
}

void PageContext::IndexMetrics() {
  for (size_t row : RowsOfInput(metrics, plan.input)) {
    if (RowOf(metrics.entry[row])) metrics_rows_.push_back(row);
  }
}

// A row belongs to the first metrics of its compilation that come after it, or to the last that
// came before: the rows are shared out, so that pages stay small however often an id is used again.
void PageContext::IndexShapes() {
  std::map<Key, std::vector<int64_t>> pages;
  for (size_t row : metrics_rows_) {
    if (Text(metrics.kind[row]) != "compilation_metrics") continue;
    if (auto entry_row = EntryRowOf(row)) pages[KeyOf(*entry_row)].push_back(metrics.entry[row]);
  }
  for (size_t row : RowsOfInput(shapes, plan.input)) {
    const std::optional<size_t> entry_row = RowOf(shapes.entry[row]);
    if (!entry_row) continue;
    AddShape(row);
    const std::string_view kind = Text(shapes.kind[row]);
    if (kind != "symbolic_shape_specialization" && kind != "guard_added_fast") continue;
    auto found = pages.find(KeyOf(*entry_row));
    if (found == pages.end()) continue;
    const std::vector<int64_t>& list = found->second;
    auto next = std::lower_bound(list.begin(), list.end(), shapes.entry[row]);
    shapes_of_[next == list.end() ? list.back() : *next].push_back(row);
  }
}

void PageContext::IndexCompilations() {
  const auto& all = model.tables.Get<CompilationTable>();
  for (size_t row = 0; row < all.size(); ++row) {
    const bool same_rank =
        plan.rank == kNone32 || all.rank[row] == kNone32 || all.rank[row] == plan.rank;
    const size_t at = FirstOf(all.first_entry[row]);
    const bool has_entries = at < rows_.size() && entries.entry[rows_[at]] <= all.last_entry[row];
    if (all.input[row] == plan.input && same_rank && has_entries) compilation_rows_.push_back(row);
  }
  for (const Compilation& compilation : plan.compilations) {
    Shortcuts& to = shortcuts_.emplace_back();
    for (size_t i = 0; i < compilation.files.size(); ++i) {
      const std::string_view name = compilation.files[i].name;
      const auto at = static_cast<int32_t>(i);
      if (name.starts_with("dynamo_output_graph") && to.graph < 0) to.graph = at;
      if (name.starts_with("inductor_output_code")) to.code = at;
      if (name.starts_with("compilation_metrics")) to.metrics = at;
    }
  }
}

void PageContext::AddShape(size_t row) {
  shape_rows_.push_back(row);
  const std::string_view kind = Text(shapes.kind[row]);
  if (shapes.node[row] == kNone64) return;
  if (kind == "expression_created" || kind == "create_unbacked_symbol") {
    expressions_[shapes.node[row]].push_back(row);
  }
}

std::optional<size_t> PageContext::ExpressionBefore(int64_t node, int64_t entry) const {
  auto found = expressions_.find(node);
  if (found == expressions_.end()) return std::nullopt;
  const std::vector<size_t>& rows = found->second;
  auto after = std::partition_point(rows.begin(), rows.end(),
                                    [&](size_t row) { return shapes.entry[row] < entry; });
  return after == rows.begin() ? std::nullopt : std::optional<size_t>(*(after - 1));
}

// Entries are numbered by their place in the log, and rows come in its order.
size_t PageContext::FirstOf(int64_t entry) const {
  auto first = std::lower_bound(rows_.begin(), rows_.end(), entry, [&](size_t row, int64_t wanted) {
    return entries.entry[row] < wanted;
  });
  return static_cast<size_t>(first - rows_.begin());
}

std::optional<size_t> PageContext::RowOf(int64_t entry) const {
  size_t at = FirstOf(entry);
  bool found = at < rows_.size() && entries.entry[rows_[at]] == entry;
  return found ? std::optional<size_t>(rows_[at]) : std::nullopt;
}

std::optional<size_t> PageContext::EntryRowOf(size_t metrics_row) const {
  int64_t entry = metrics.entry[metrics_row];
  for (size_t at = FirstOf(entry); at < rows_.size(); ++at) {
    size_t row = rows_[at];
    if (entries.entry[row] != entry) break;
    if (entries.kind[row] == metrics.kind[metrics_row]) return row;
  }
  return std::nullopt;
}

void PageContext::AppendStacks(size_t shape_row, std::string_view root, std::string& out) const {
  const std::optional<size_t> row = RowOf(shapes.entry[shape_row]);
  if (!row) return;
  frames_.AppendFolded("User stack", model.pools.GetStack(entries.user_stack[*row]), root, out);
  frames_.AppendFolded("Framework stack", model.pools.GetStack(entries.stack[*row]), root, out);
}

std::string_view PageContext::MetricsPath(size_t metrics_row) const {
  const std::optional<size_t> entry_row = EntryRowOf(metrics_row);
  if (!entry_row) return {};
  auto found = metrics_paths_.find(*entry_row);
  return found == metrics_paths_.end() ? std::string_view() : found->second;
}

std::span<const size_t> PageContext::ShapesOf(int64_t entry) const {
  auto found = shapes_of_.find(entry);
  return found == shapes_of_.end() ? std::span<const size_t>() : found->second;
}

StackId PageContext::StartOf(size_t entry_row) const {
  auto found = starts_.find(KeyOf(entry_row));
  return found == starts_.end() ? StackId::kNone : found->second;
}

}  // namespace debrief::outputs::tlparse_tree
