#include "compat/tlparse/event_file.h"

#include <fmt/format.h>

#include <optional>

#include "base/json/canonical.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"

namespace debrief::outputs::tlparse_tree {

namespace {

// Events are formatted in batches of about this many bytes of the log, in parallel, and written in
// order: memory is bounded whatever the number of events.
constexpr int64_t kBatchBytes = 1 << 20;

struct Batch {
  size_t begin = 0, end = 0;  // in the events of the plan
};

struct Formatted {
  std::string text;
  Status status;
};

std::vector<Batch> CutBatches(const TreePlan& plan, const CompileEntryTable& entries) {
  std::vector<Batch> batches;
  int64_t first = 0;
  for (size_t i = 0; i < plan.events.size(); ++i) {
    int64_t at = entries.entry[plan.events[i]];
    if (batches.empty() || at - first > kBatchBytes) {
      batches.push_back({i, i});
      first = at;
    }
    batches.back().end = i + 1;
  }
  return batches;
}

// The part of the log that holds a batch, read at once: events are small and lie close together.
class Window {
 public:
  static Result<Window> Read(const Model& model, const CompileEntryTable& entries,
                             std::span<const size_t> rows) {
    Window window;
    const Source* source = model.sources[static_cast<size_t>(entries.input[rows.front()])].get();
    window.begin_ = entries.payload_offset[rows.front()];
    int64_t end = entries.payload_offset[rows.back()] + entries.payload_bytes[rows.back()];
    bool near = source != nullptr && end - window.begin_ <= 4 * kBatchBytes;
    if (near && end > window.begin_) {
      ASSIGN_OR_RETURN(window.bytes_, source->View(static_cast<uint64_t>(window.begin_),
                                                   static_cast<size_t>(end - window.begin_)));
    }
    return window;
  }

  // Empty when the payload is not wholly inside.
  std::string_view Find(int64_t offset, int64_t bytes) const {
    auto at = static_cast<uint64_t>(offset - begin_);
    bool inside = offset >= begin_ && at + static_cast<uint64_t>(bytes) <= bytes_.size();
    return inside ? bytes_.text().substr(at, static_cast<size_t>(bytes)) : std::string_view();
  }

 private:
  int64_t begin_ = 0;
  ByteView bytes_;
};

class BatchFormatter {
 public:
  BatchFormatter(const Model& model, const TreePlan& plan, std::optional<int32_t> pid)
      : model_(model), entries_(model.tables.Get<CompileEntryTable>()), plan_(plan) {
    if (pid) pid_ = fmt::format("{}", *pid);
  }

  Status Format(Batch batch, std::string& out) const {
    thread_local JsonCanonical canonical;
    std::vector<size_t> rows;
    for (size_t i = batch.begin; i < batch.end; ++i) rows.push_back(plan_.events[i]);
    ASSIGN_OR_RETURN(Window window, Window::Read(model_, entries_, rows));
    for (size_t row : rows) TRY(AppendEvent(window, row, canonical, out));
    return {};
  }

 private:
  Status AppendEvent(const Window& window, size_t row, JsonCanonical& canonical,
                     std::string& out) const {
    ByteView alone;
    std::string_view json;
    if (entries_.payload_pieces[row] == ListId::kNone)
      json = window.Find(entries_.payload_offset[row], entries_.payload_bytes[row]);
    if (json.empty()) {
      ASSIGN_OR_RETURN(alone, PayloadLines(model_, entries_, row));
      json = alone.text();
    }
    size_t before = out.size();
    out += JsonCanonical::kBetweenElements;
    const JsonExtraField pid[] = {{"pid", pid_}};
    bool good = pid_.empty() ? canonical.Append(json, JsonCanonical::kElement, out)
                             : canonical.AppendReplacing(json, pid, JsonCanonical::kElement, out);
    if (!good) out.resize(before);
    return {};
  }

  const Model& model_;
  const CompileEntryTable& entries_;
  const TreePlan& plan_;
  std::string pid_;
};

// Appends the events of one plan; `first` tells whether none was written yet.
Status AppendEvents(const Model& model, const TreePlan& plan, std::optional<int32_t> pid,
                    ThreadPool& pool, FileSink::Stream& stream, bool& first) {
  BatchFormatter formatter(model, plan, pid);
  auto batches = CutBatches(plan, model.tables.Get<CompileEntryTable>());
  Status status;
  pool.MapInOrder<Formatted>(
      batches.size(),
      [&](size_t i) {
        Formatted made;
        made.status = formatter.Format(batches[i], made.text);
        return made;
      },
      [&](size_t, Formatted&& made) {
        if (status.ok()) status = std::move(made.status);
        if (!status.ok() || made.text.empty()) return;
        status = stream.Append(std::string_view(made.text).substr(first ? 1 : 0));
        first = false;
      });
  return status;
}

}  // namespace

Status WriteEvents(const Model& model, const TreePlan& plan, ThreadPool& pool, FileSink& sink) {
  ASSIGN_OR_RETURN(auto stream, sink.Open("chromium_events.json"));
  TRY(stream.Append("["));
  bool first = true;
  TRY(AppendEvents(model, plan, std::nullopt, pool, stream, first));
  return stream.Append(first ? "]" : "\n]");
}

Status WriteAllEvents(const Model& model, std::span<const TreePlan> plans, ThreadPool& pool,
                      FileSink& sink) {
  bool any = false;
  for (const TreePlan& plan : plans) any |= !plan.events.empty();
  if (!any) return {};
  ASSIGN_OR_RETURN(auto stream, sink.Open("chromium_events.json"));
  TRY(stream.Append("["));
  bool first = true;
  for (const TreePlan& plan : plans) TRY(AppendEvents(model, plan, plan.rank, pool, stream, first));
  return stream.Append(first ? "]" : "\n]");
}

}  // namespace debrief::outputs::tlparse_tree
