// Output "flight_timeline": the Flight Recorder dumps as Trace Event JSON, for chrome://tracing and
// ui.perfetto.dev. docs/formats/flight_timeline.md
//
// The file is about 400 bytes an op and grows in pieces: it is larger than the model and must not
// be held beside it.
// Memory: the layout, one number a match, and a piece of text.
#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/bytes/growing_file.h"
#include "base/text/escape.h"
#include "base/text/rank_list.h"
#include "base/version.h"
#include "outputs/comm_index.h"
#include "outputs/exports/flight_timeline/layout.h"
#include "outputs/output.h"
#include "tables/comm_call.h"
#include "tables/comm_op.h"
#include "tables/job.h"
#include "torch/stacks/user_frames.h"

namespace debrief::outputs::flight_timeline {

namespace {

constexpr size_t kPieceBytes = 1 << 20;
constexpr size_t kStackLines = 3;
constexpr size_t kNoBox = static_cast<size_t>(-1);

// The ends of one arrow: positions of boxes.
struct Arrow {
  size_t first = kNoBox;
  size_t last = kNoBox;
};

class EventWriter {
 public:
  EventWriter(const Model& model, const Layout& layout, GrowingFile& file)
      : model_(model),
        ops_(model.tables.Get<CommOpTable>()),
        layout_(layout),
        file_(file),
        stacks_(model.pools.stack_count()) {}

  Status Write() {
    FindArrows();
    out_ += "{\"traceEvents\":[\n";
    WriteProcesses();
    for (const Group& group : layout_.groups) WriteTracks(group);
    for (size_t i = 0; i < layout_.boxes.size(); ++i) {
      WriteBox(layout_.boxes[i]);
      WriteArrow(i);
      if (out_.size() >= kPieceBytes) TRY(Flush());
    }
    WriteEnd();
    return Flush();
  }

 private:
  template <typename Format, typename... Values>
  void Print(const Format& format, const Values&... values) {
    fmt::format_to(std::back_inserter(out_), format, values...);
  }

  Status Flush() {
    Status status = file_.Append(out_);
    out_.clear();
    return status;
  }

  // Every event but the first follows a comma.
  void Begin() {
    if (any_) out_ += ",\n";
    any_ = true;
  }

  // Nanoseconds as microseconds, without rounding. Differences of hostile times need all 64 bits.
  void Micros(int64_t from, int64_t to) {
    const uint64_t ns = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
    Print(FMT_COMPILE("{}.{:03}"), ns / 1000, ns % 1000);
  }

  // Process ids are ranks; where there are several runs they are numbered, since ranks repeat.
  bool HasSeveralRuns() const {
    return std::any_of(layout_.processes.begin(), layout_.processes.end(), [&](const Process& one) {
      const Process& first = layout_.processes.front();
      return one.job != first.job || one.attempt != first.attempt;
    });
  }

  void WriteProcesses() {
    const bool several = HasSeveralRuns();
    std::vector<size_t> order(layout_.processes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return layout_.processes[a].Key() < layout_.processes[b].Key();
    });
    pids_.resize(order.size());
    for (size_t place = 0; place < order.size(); ++place) {
      const Process& process = layout_.processes[order[place]];
      const bool is_plain = !several && process.rank >= 0;
      pids_[order[place]] = is_plain ? process.rank : static_cast<int64_t>(place);
      Describe("process", pids_[order[place]], 0, ProcessName(process, several),
               static_cast<int64_t>(place));
    }
  }

  std::string ProcessName(const Process& process, bool several) const {
    std::string name = process.rank == kNone32 ? std::string("unknown rank")
                                               : fmt::format("rank {}", process.rank);
    if (!several) return name;
    const auto& jobs = model_.tables.Get<JobTable>();
    const auto at = std::find(jobs.job.begin(), jobs.job.end(), process.job) - jobs.job.begin();
    const auto row = static_cast<size_t>(at);
    if (row < jobs.size()) name += fmt::format(" of {}", model_.pools.Text(jobs.name[row]));
    if (process.attempt != kNone32) name += fmt::format(", attempt {}", process.attempt);
    return name;
  }

  // Name and place of a process or thread.
  void Describe(std::string_view what, int64_t pid, int32_t tid, std::string_view name,
                int64_t place) {
    Begin();
    Print(FMT_COMPILE("{{\"ph\":\"M\",\"name\":\"{}_name\",\"pid\":{},\"tid\":{},"
                      "\"args\":{{\"name\":"),
          what, pid, tid);
    AppendJsonString(out_, name);
    out_ += "}}";
    Begin();
    Print(FMT_COMPILE("{{\"ph\":\"M\",\"name\":\"{}_sort_index\",\"pid\":{},\"tid\":{},"
                      "\"args\":{{\"sort_index\":{}}}}}"),
          what, pid, tid, place);
  }

  static int32_t Tid(const Group& group, int32_t lane) {
    return group.number * kMostLanes + lane + 1;
  }

  void WriteTracks(const Group& group) {
    for (int32_t lane = 0; lane < group.lanes; ++lane) {
      const int32_t tid = Tid(group, lane);
      Describe("thread", pids_[group.process], tid,
               GroupName(group.op_row) + (lane == 0 ? "" : fmt::format(" +{}", lane)), tid);
    }
  }

  // "mesh_dp [5, 7] (7)".
  std::string GroupName(size_t op_row) const {
    const std::string_view desc = model_.pools.Text(ops_.group_desc[op_row]);
    const std::string_view name = model_.pools.Text(ops_.group_name[op_row]);
    std::string text(desc.empty() ? "group" : desc);
    if (ops_.members[op_row] != ListId::kNone) {
      std::vector<int32_t> ranks;
      for (int64_t rank : model_.pools.lists.Get(ops_.members[op_row]))
        ranks.push_back(static_cast<int32_t>(rank));
      text += fmt::format(" [{}]", FoldNumbers(ranks));
    }
    if (!name.empty()) text += fmt::format(" ({})", name);
    return text;
  }

  void WriteBox(const Box& box) {
    const size_t row = box.op_row;
    const Group& group = layout_.groups[box.group];
    Begin();
    Print(FMT_COMPILE("{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":"), pids_[group.process],
          Tid(group, box.lane));
    Micros(layout_.base_ns, box.start_ns);
    out_ += ",\"dur\":";
    Micros(box.start_ns, box.end_ns);
    out_ += ops_.is_p2p[row] ? ",\"cat\":\"p2p\",\"name\":" : ",\"cat\":\"collective\",\"name\":";
    AppendJsonString(out_, model_.pools.Text(ops_.op[row]));
    WriteArgs(box);
    out_ += "}}";
  }

  void WriteArgs(const Box& box) {
    const size_t row = box.op_row;
    const int32_t seq = ops_.is_p2p[row] ? ops_.p2p_seq[row] : ops_.collective_seq[row];
    out_ += ",\"args\":{\"state\":";
    AppendJsonString(out_, model_.pools.Text(ops_.state[row]));
    if (seq != kNone32) Print(FMT_COMPILE(",\"seq\":{}"), seq);
    if (ops_.record[row] != kNone32) Print(FMT_COMPILE(",\"record\":{}"), ops_.record[row]);
    TextArg("input_sizes", ops_.input_sizes[row]);
    TextArg("input_dtypes", ops_.input_dtypes[row]);
    TextArg("output_sizes", ops_.output_sizes[row]);
    TextArg("output_dtypes", ops_.output_dtypes[row]);
    if (box.start_ns != ops_.created_ns[row]) {
      out_ += ",\"issued_us\":";
      Micros(layout_.base_ns, ops_.created_ns[row]);
    }
    if (ops_.stack[row] != StackId::kNone) out_ += StackText(ops_.stack[row]);
  }

  void TextArg(std::string_view key, StringId text) {
    if (text == StringId::kNone) return;
    Print(FMT_COMPILE(",\"{}\":"), key);
    AppendJsonString(out_, model_.pools.Text(text));
  }

  // The innermost lines of the user, as JSON; made once for each stack.
  const std::string& StackText(StackId id) {
    std::string& text = stacks_[static_cast<size_t>(id)];
    if (!text.empty()) return text;
    text = ",\"stack\":[";
    const auto frames = UserFrames(model_.pools, id);
    for (size_t i = 0; i < std::min(frames.size(), kStackLines); ++i) {
      const Frame& frame = model_.pools.GetFrame(frames[i]);
      text += i == 0 ? "\"" : ",\"";
      AppendJson(text, model_.pools.Text(frame.file));
      fmt::format_to(std::back_inserter(text), FMT_COMPILE(":{} "), frame.line);
      AppendJson(text, model_.pools.Text(frame.function));
      text += '"';
    }
    text += ']';
    return text;
  }

  // An arrow goes through the boxes of a match in the order of their starts.
  void FindArrows() {
    const auto& calls = model_.tables.Get<CommCallTable>();
    const MatchRows rows(model_.tables.Get<CommMatchTable>());
    std::vector<size_t> match_of(ops_.size(), MatchRows::kNoRow);
    for (size_t i = 0; i < calls.size(); ++i) {
      const auto op = static_cast<size_t>(calls.op_row[i]);
      if (op < ops_.size()) match_of[op] = rows.Find(calls.match[i]);
    }
    arrows_.resize(model_.tables.Get<CommMatchTable>().size());
    arrow_of_.reserve(layout_.boxes.size());
    for (size_t i = 0; i < layout_.boxes.size(); ++i) {
      const size_t match = match_of[layout_.boxes[i].op_row];
      arrow_of_.push_back(match);
      if (match != MatchRows::kNoRow) Extend(arrows_[match], i);
    }
  }

  void Extend(Arrow& arrow, size_t box) const {
    const auto start = [&](size_t at) { return std::pair(layout_.boxes[at].start_ns, at); };
    if (arrow.first == kNoBox || start(box) < start(arrow.first)) arrow.first = box;
    if (arrow.last == kNoBox || start(arrow.last) < start(box)) arrow.last = box;
  }

  void WriteArrow(size_t at) {
    const size_t match = arrow_of_[at];
    if (match == MatchRows::kNoRow || arrows_[match].first == arrows_[match].last) return;
    const Box& box = layout_.boxes[at];
    const Group& group = layout_.groups[box.group];
    const std::string_view phase = at == arrows_[match].first  ? "s\""
                                   : at == arrows_[match].last ? "f\",\"bp\":\"e\""
                                                               : "t\"";
    Begin();
    Print(FMT_COMPILE("{{\"ph\":\"{},\"id\":{},\"pid\":{},\"tid\":{},\"cat\":\"match\","
                      "\"name\":\"match\",\"ts\":"),
          phase, match + 1, pids_[group.process], Tid(group, box.lane));
    Micros(layout_.base_ns, box.start_ns);
    out_ += '}';
  }

  void WriteEnd() {
    Print(FMT_COMPILE("\n],\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":{},\"metadata\":{{"
                      "\"baseTimeNanoseconds\":{},\"made_by\":\"debrief {}\",\"untimed\":{}}}}}\n"),
          layout_.base_ns, layout_.base_ns, kVersion, layout_.untimed);
  }

  const Model& model_;
  const CommOpTable& ops_;
  const Layout& layout_;
  GrowingFile& file_;
  std::string out_;
  bool any_ = false;
  std::vector<int64_t> pids_;        // by process
  std::vector<std::string> stacks_;  // by StackId; empty until needed
  std::vector<Arrow> arrows_;        // by row of comm_match
  std::vector<size_t> arrow_of_;     // by box
};

constexpr std::string_view kFile = "flight_timeline.json";

Status Write(const Model& model, const OutputContext& context) {
  const std::string path = PathOf(context, kFile);
  if (path.empty()) return {};
  const Layout layout = MakeLayout(model);
  ASSIGN_OR_RETURN(GrowingFile file, GrowingFile::Create(path));
  TRY(EventWriter(model, layout, file).Write());
  return file.Finish();
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"flight_timeline", "collectives of all ranks as Chrome Trace Event JSON, an arrow a match",
       kFile, kOnRequest},
      Write};
  return kOutput;
}

}  // namespace debrief::outputs::flight_timeline
