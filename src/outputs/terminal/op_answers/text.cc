// The answers for a terminal: totals, then one short list a question.
//
//   Ops by self time
//         self   share      total  count       mean ...  op
//     1.50 ms  52.6 %    1.50 ms      3  500.00 us  ...  nccl:all_reduce
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes/growing_file.h"
#include "base/text/columns.h"
#include "base/text/rank_list.h"
#include "base/text/safe_name.h"
#include "base/text/units.h"
#include "outputs/output.h"
#include "outputs/terminal/op_answers/answers.h"

namespace debrief::outputs::op_answers {

namespace {

constexpr size_t kLeastName = 32;  // of the last column, however narrow the terminal is

// Numbers to the right, the name in the last column to the left.
TextTable NewTable(std::initializer_list<const char*> heads) {
  std::vector<TextTable::Column> columns;
  for (const char* head : heads) columns.push_back({head, TextTable::kRight, SIZE_MAX});
  columns.back().align = TextTable::kLeft;
  return TextTable(std::move(columns));
}

double ShareOf(int64_t part, int64_t all) {
  return all > 0 ? static_cast<double>(part) / static_cast<double>(all) : 0;
}

std::string SizeText(uint64_t bytes) { return BytesText(static_cast<double>(bytes)); }

std::string MeanText(double ns) { return DurationText(std::llround(ns)); }

class Screen {
 public:
  Screen(const OpAnswers& answers, const OpsOptions& options, TextSink& out)
      : answers_(answers), options_(options), out_(out) {}

  void Write() {
    WriteTotals();
    WriteMetadata();
    if (answers_.count == 0) return;
    WriteOps();
    WriteDevices();
    WriteCommunication();
    WriteList("Slowest by self time", answers_.slowest);
    if (!answers_.hot_spots.empty())
      WriteList(fmt::format("Outputs above {}", SizeText(options_.hot_bytes)), Largest());
    WriteLosses();
    WriteOpen();
  }

 private:
  size_t Shown(size_t rows) const {
    return options_.top == 0 ? rows : std::min(options_.top, rows);
  }

  void WriteTable(const TextTable& table) {
    out_.Write(table.Text({.indent = 2,
                           .width = static_cast<size_t>(std::max(options_.width, 0)),
                           .least_last = kLeastName}));
  }

  void Title(std::string_view title) { out_.Write(fmt::format("\n{}\n", title)); }

  void More(size_t shown, size_t all) {
    if (shown < all)
      out_.Write(fmt::format("  ... and {} more (--top 0 shows all)\n", all - shown));
  }

  void WriteTotals() {
    std::string line = Plural(answers_.count, "op");
    line += fmt::format(" of {} in {}", Plural(answers_.ops.size(), "name"),
                        Plural(answers_.inputs, "input"));
    if (!answers_.ranks.empty()) line += fmt::format(", {}", RanksInWords(answers_.ranks));
    out_.Write(line + "\n");
    if (answers_.count == 0) return;
    out_.Write(fmt::format("  op time   {:>9}  in recorded ops, each moment of a thread once\n",
                           DurationText(answers_.op_time_ns)));
    if (answers_.wall_ns)
      out_.Write(fmt::format("  wall time {:>9}  first begin to last end{}\n",
                             DurationText(*answers_.wall_ns),
                             answers_.inputs > 1 ? ", inputs added up" : ""));
    out_.Write(fmt::format("  output    {:>9}  of all ops; the largest {}\n",
                           SizeText(answers_.bytes), SizeText(answers_.largest_bytes)));
    if (answers_.live_peak_bytes)
      out_.Write(fmt::format("  memory    {:>9}  most at once on one device\n",
                             SizeText(static_cast<uint64_t>(*answers_.live_peak_bytes))));
    if (answers_.bytes_assumed > 0)
      out_.Write(fmt::format("  of {} no type was recorded: eight bytes an element are assumed\n",
                             Plural(answers_.bytes_assumed, "op")));
    if (answers_.without_duration > 0)
      out_.Write(fmt::format("  of {} the duration is not known: left out of times\n",
                             Plural(answers_.without_duration, "op")));
  }

  void WriteMetadata() {
    if (answers_.metadata.empty()) return;
    Title("Metadata");
    TextTable table({{"key", TextTable::kLeft, SIZE_MAX}, {"value", TextTable::kLeft, SIZE_MAX}});
    const size_t shown = Shown(answers_.metadata.size());
    size_t left = shown;
    for (const auto& [key, value] : answers_.metadata) {
      if (left-- == 0) break;
      table.Add({Printable(key), Printable(value)});
    }
    WriteTable(table);
    More(shown, answers_.metadata.size());
  }

  void WriteOps() {
    Title("Ops by self time");
    TextTable table =
        NewTable({"self", "share", "total", "count", "mean", "p50", "p99", "bytes", "op"});
    const size_t shown = Shown(answers_.ops.size());
    for (const op_trace::OpSummary& op : std::span(answers_.ops).first(shown)) {
      table.Add({DurationText(op.self_ns), PercentText(ShareOf(op.self_ns, answers_.op_time_ns)),
                 DurationText(op.duration_ns), fmt::format("{}", op.count), MeanText(op.mean_ns),
                 DurationText(op.p50_ns), DurationText(op.p99_ns), SizeText(op.bytes),
                 op.operation});
    }
    WriteTable(table);
    More(shown, answers_.ops.size());
  }

  void WriteDevices() {
    Title("Devices");
    if (answers_.devices.empty()) return out_.Write("  no op names one\n");
    TextTable table = NewTable({"op time", "busy", "count", "bytes", "device"});
    const size_t shown = Shown(answers_.devices.size());
    for (const op_trace::DeviceSummary& device : std::span(answers_.devices).first(shown)) {
      table.Add({DurationText(device.duration_ns),
                 answers_.has_busy ? DurationText(device.busy_ns) : "-",
                 fmt::format("{}", device.count), SizeText(device.bytes), device.device});
    }
    WriteTable(table);
    More(shown, answers_.devices.size());
    if (answers_.without_device > 0)
      out_.Write(fmt::format("  {} name no device\n", Plural(answers_.without_device, "op")));
    if (answers_.balance)
      out_.Write(fmt::format("  imbalance {:.3f}: the busiest has {}, the mean of {} is {}\n",
                             answers_.balance->imbalance, DurationText(answers_.balance->max_ns),
                             answers_.balance->devices.size(),
                             MeanText(answers_.balance->ideal_ns)));
  }

  void WriteCommunication() {
    Title("Communication");
    if (answers_.communication_ns == 0 && answers_.communication.empty())
      return out_.Write("  no op has the name of a collective or a transfer\n");
    out_.Write(fmt::format("  {} of the op time", PercentText(answers_.communication_of_op_time)));
    if (answers_.communication_of_wall)
      out_.Write(
          fmt::format(", {} of the wall time", PercentText(*answers_.communication_of_wall)));
    out_.Write("\n");
    TextTable table = NewTable({"total", "of op time", "count", "op"});
    const size_t shown = Shown(answers_.communication.size());
    for (const auto& share : std::span(answers_.communication).first(shown)) {
      table.Add({DurationText(share.duration_ns), PercentText(share.of_op_time),
                 fmt::format("{}", share.count), share.operation});
    }
    if (!table.empty()) WriteTable(table);
    More(shown, answers_.communication.size());
  }

  std::vector<ListedOp> Largest() const {
    std::vector<ListedOp> largest = answers_.hot_spots;
    std::stable_sort(largest.begin(), largest.end(),
                     [](const ListedOp& a, const ListedOp& b) { return a.bytes > b.bytes; });
    return largest;
  }

  void WriteList(std::string_view title, const std::vector<ListedOp>& ops) {
    Title(title);
    TextTable table =
        NewTable({"self", "total", "bytes", "step", "rank", "thread", "device", "op"});
    const size_t shown = Shown(ops.size());
    for (const ListedOp& op : std::span(ops).first(shown)) {
      table.Add({op.duration_ns ? DurationText(op.self_ns) : "-",
                 op.duration_ns ? DurationText(*op.duration_ns) : "-", SizeText(op.bytes),
                 fmt::format("{}", op.step), op.rank ? fmt::format("{}", *op.rank) : "-",
                 op.thread ? fmt::format("{}", *op.thread) : "-",
                 op.device ? CutEnd(*op.device, kLeastName) : "-", op.operation});
    }
    WriteTable(table);
    More(shown, ops.size());
  }

  void WriteLosses() {
    if (answers_.losses.empty()) return;
    Title("Lost");
    for (const Losses& lost : std::span(answers_.losses).first(Shown(answers_.losses.size()))) {
      std::string line =
          fmt::format("  {}: {} overwritten, {} dropped, {} without a name", Printable(lost.path),
                      lost.overwritten, lost.dropped, lost.names);
      if (lost.from_ns)
        line += fmt::format("; from {} to {} after the recording began",
                            DurationText(*lost.from_ns), DurationText(*lost.to_ns));
      out_.Write(line + "\n");
    }
    More(Shown(answers_.losses.size()), answers_.losses.size());
  }

  void WriteOpen() {
    if (answers_.open.empty()) return;
    Title("Open at the end");
    for (const OpenOps& open : std::span(answers_.open).first(Shown(answers_.open.size()))) {
      std::string line = open.rank ? fmt::format("  rank {}, ", *open.rank) : "  ";
      line += fmt::format("process {}, thread {}: ", open.pid, open.thread);
      for (size_t i = 0; i < open.operations.size(); ++i)
        line += fmt::format("{}{}", i > 0 ? " > " : "", Printable(open.operations[i]));
      line +=
          fmt::format(", open for {}; the recording was {}", DurationText(open.open_for_ns.back()),
                      open.closed   ? "closed"
                      : open.copied ? "copied while the process ran"
                                    : "never closed: killed, or still running");
      out_.Write(line + "\n");
    }
    More(Shown(answers_.open.size()), answers_.open.size());
  }

  const OpAnswers& answers_;
  const OpsOptions& options_;
  TextSink& out_;
};

}  // namespace

void WriteText(const OpAnswers& answers, const OpsOptions& options, TextSink& out) {
  Screen(answers, options, out).Write();
}

namespace {

Status Write(const Model& model, const OutputContext& context) {
  const OpsOptions options = {.width = 160};
  StringSink text;
  WriteText(AnswerOps(model, options), options, text);
  return WriteFileAtomically(context.folder + "/op_answers.txt", text.text());
}

}  // namespace

// The answers as a file of a report: `debrief PATH --with op_answers`.
const Output& Describe() {
  static constexpr Output kOutput = {
      {"op_answers", "what recorded ops show, as text: totals, ops, devices, communication",
       "op_answers.txt", kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::op_answers
