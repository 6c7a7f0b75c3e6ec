#include "inputs/torchcomms_clog/clog_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text/strings.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"

namespace debrief::inputs::torchcomms_clog {

namespace {

constexpr DiagnosticKind kBadLine = {
    "torchcomms_clog.bad_line", Severity::kWarning, "a line is cut or of another form; left out",
    "The process was killed while it wrote, or the log is of a newer version of torchcomms."};
constexpr DiagnosticKind kNoSignature = {
    "torchcomms_clog.no_signature", Severity::kWarning,
    "an operation whose signature the log does not have; left out",
    "The beginning of the log is missing; give the whole file."};
constexpr DiagnosticKind kWarned = {"torchcomms_clog.warning", Severity::kInfo,
                                    "torchcomms wrote a warning into its log",
                                    "Read the line; what it is about may be incomplete."};
constexpr DiagnosticKind kForgotten = {
    "torchcomms_clog.older_operations", Severity::kInfo,
    "the log has more than a million operations; the newest are kept",
    "Cut the log to the time that matters."};
constexpr DiagnosticKind kReplays = {
    "torchcomms_clog.graph_replays", Severity::kInfo,
    "operations of replayed CUDA graphs have no order across ranks and are not compared",
    "Run without CUDA graphs to see which rank is late in them."};

constexpr size_t kMostRows = size_t{1} << 20;  // of finished operations beside those in flight
constexpr size_t kMostSignatures = 1 << 20;    // a log has some hundred
constexpr int32_t kMostMembers = 1 << 17;

std::vector<int64_t> ListOf(std::string_view text) {
  std::vector<int64_t> numbers;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    const auto number = ParseNumber<int64_t>(word);
    if (!number || *number < 0) return {};
    numbers.push_back(*number);
    text.remove_prefix(std::min(word.size() + 1, text.size()));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

bool IsExchange(std::string_view op) {
  return op == "send" || op == "recv" || op == "batch_op_issue";
}

// in_count=8, in_counts=4,4 or in_splits=4,4: a tensor, a list of them, parts of one.
std::string SizesOf(const ClogLine& line, std::string_view side) {
  const std::string prefix(side);
  if (const auto count = line.Get(prefix + "_count"); !count.empty()) return ShapesOf(count);
  if (const auto counts = line.Get(prefix + "_counts"); !counts.empty()) return ShapesOf(counts);
  const auto sum = SumOf(line.Get(prefix + "_splits"));
  const bool has_splits = !line.Get(prefix + "_splits").empty();
  return has_splits && sum ? ShapesOf(fmt::to_string(*sum)) : "[]";
}

}  // namespace

void ClogOps::Add(std::string_view text, int64_t number) {
  const ClogLine line = ParseLine(text);
  switch (line.kind) {
    case LineKind::kHead:
      head_ms_ = line.head_ms;
      version_ = line.version;
      return;
    case LineKind::kComm:
      return AddComm(line);
    case LineKind::kSplit:
      return AddSplit(line);
    case LineKind::kSignature:
      return AddSignature(line);
    case LineKind::kEnqueue:
      return AddEnqueue(line);
    case LineKind::kStart:
    case LineKind::kEnd:
    case LineKind::kWait:
      return AddEvent(line);
    case LineKind::kReplay:
      ++replays_;
      return;
    case LineKind::kWarning:
      part_.diagnostics.Add(kWarned, who_.input, {.line = number, .detail = std::string(text)});
      return;
    case LineKind::kOther:
      if (!Trimmed(text).empty()) part_.diagnostics.Add(kBadLine, who_.input, {.line = number});
      return;
  }
}

void ClogOps::AddComm(const ClogLine& line) {
  Comm& comm = comms_[std::string(line.Get("comm"))];
  comm.rank = ParseNumber<int32_t>(line.Get("rank")).value_or(kNone32);
  comm.size = ParseNumber<int32_t>(line.Get("world_size")).value_or(kNone32);
}

void ClogOps::AddSplit(const ClogLine& line) {
  Comm& comm = comms_[std::string(line.Get("child"))];
  comm.members = ListOf(line.Get("ranks"));
  comm.size = static_cast<int32_t>(comm.members.size());
  const auto own = std::find(comm.members.begin(), comm.members.end(), int64_t{who_.rank});
  if (own != comm.members.end()) comm.rank = static_cast<int32_t>(own - comm.members.begin());
}

void ClogOps::AddSignature(const ClogLine& line) {
  if (known_.size() >= kMostSignatures) return;
  auto& [row, comm] = known_[line.signature];
  comm = line.Get("comm");
  row = Part::RowOf<CommOpRow>(who_);
  row.input = who_.input;
  row.group_name = row.group_desc = Intern(comm);
  row.backend = Intern("torchcomms");
  row.op = Intern(line.op);
  row.input_sizes = Intern(SizesOf(line, "in"));
  row.output_sizes = Intern(SizesOf(line, "out"));
  const StringId dtype = Intern(DtypeOf(line.Get("dtype")));
  row.input_dtypes = row.output_dtypes = dtype;
  row.is_p2p = IsExchange(line.op) ? 1 : 0;
  row.retired = 0;
  SetPeer(line, comms_[comm], row);
}

void ClogOps::SetPeer(const ClogLine& line, const Comm& comm, CommOpRow& row) const {
  const int32_t peer = ParseNumber<int32_t>(line.Get("peer")).value_or(kNone32);
  if (line.op == "send") {
    row.src = comm.rank;
    row.dst = peer;
  } else if (line.op == "recv") {
    row.src = peer;
    row.dst = comm.rank;
  }
}

void ClogOps::AddEnqueue(const ClogLine& line) {
  const auto known = known_.find(line.signature);
  if (known == known_.end()) {
    part_.diagnostics.Add(kNoSignature, who_.input, {.detail = fmt::format("C{}", line.signature)});
    return;
  }
  const auto& [common, comm_name] = known->second;
  Comm& comm = comms_[comm_name];
  CommOpRow row = common;
  const int64_t position = forgotten_ + static_cast<int64_t>(rows_.size());
  row.record = static_cast<int32_t>(position);
  row.op_id = ParseNumber<int32_t>(line.Get("work_id")).value_or(kNone32);
  row.created_ns = TimeOf(line);
  row.state = Intern("scheduled");
  row.is_p2p != 0 ? ++comm.exchanges : ++comm.collectives;
  row.collective_seq = comm.collectives;
  row.p2p_seq = comm.exchanges;
  rows_.push_back(row);
  auto& open = signatures_[{line.graph, line.signature}];
  open.queued.push_back(position);
  open.started.push_back(position);
  if (rows_.size() > kMostRows) Forget();
}

CommOpRow* ClogOps::RowAt(int64_t position) {
  return position < forgotten_ ? nullptr : &rows_[static_cast<size_t>(position - forgotten_)];
}

void ClogOps::AddEvent(const ClogLine& line) {
  has_lifecycle_ = true;
  const auto found = signatures_.find({line.graph, line.signature});
  if (found == signatures_.end() || line.kind == LineKind::kWait) return;
  const bool is_end = line.kind == LineKind::kEnd;
  std::deque<int64_t>& open = is_end ? found->second.started : found->second.queued;
  if (open.empty()) return;
  CommOpRow* row = RowAt(open.front());
  open.pop_front();
  if (row == nullptr) return;
  if (!is_end && row->completed_ns == kNone64) row->state = Intern("started");
  (is_end ? row->completed_ns : row->started_ns) = TimeOf(line);
  if (!is_end) return;
  row->state = Intern("completed");
  row->retired = 1;
  const int64_t begin = row->started_ns == kNone64 ? row->created_ns : row->started_ns;
  row->duration_ns = std::max<int64_t>(row->completed_ns - begin, 0);
}

// What is finished is forgotten, oldest first; the number of a record says that it was there.
void ClogOps::Forget() {
  const bool is_open = rows_.front().completed_ns == kNone64 && has_lifecycle_;
  if (is_open && rows_.size() < 2 * kMostRows) return;
  rows_.pop_front();
  ++forgotten_;
}

// With enqueues alone nobody knows what ended: all did but the one that the process came to last.
void ClogOps::AssumeStates() {
  if (has_lifecycle_ || rows_.empty()) return;
  const StringId completed = Intern("completed");
  for (CommOpRow& row : rows_) row.state = completed;
  rows_.back().state = Intern("scheduled");
}

// The largest communicator is that of the job, as long as no line says otherwise; members of others
// that were not split off are not told.
void ClogOps::AddGroups() {
  int32_t largest = 0;
  for (const auto& [name, comm] : comms_) largest = std::max(largest, comm.size);
  std::map<StringId, ListId> members_of;
  for (auto& [name, comm] : comms_) {
    const bool is_world = comm.size == largest && comm.size > 0 && comm.size <= kMostMembers;
    if (comm.members.empty() && is_world) {
      comm.members.resize(static_cast<size_t>(comm.size));
      std::iota(comm.members.begin(), comm.members.end(), 0);
    }
    if (comm.members.empty()) continue;
    auto row = Part::RowOf<CommGroupRow>(who_);
    row.input = who_.input;
    row.name = row.description = Intern(name);
    row.members = part_.pools.lists.Intern(comm.members);
    members_of[row.name] = row.members;
    comm.members = {};
    part_.tables.Edit<CommGroupTable>().Add(row);
  }
  for (CommOpRow& row : rows_) {
    const auto found = members_of.find(row.group_name);
    if (found != members_of.end()) row.members = found->second;
  }
}

void ClogOps::Finish() {
  AssumeStates();
  AddGroups();
  auto dump = Part::RowOf<CommDumpRow>(who_);
  dump.input = who_.input;
  dump.version = Intern(version_);
  dump.form = Intern("clog");
  dump.entries = static_cast<int32_t>(rows_.size());
  dump.first_record = rows_.empty() ? kNone32 : rows_.front().record;
  dump.whole = 1;
  dump.has_stacks = 0;
  part_.tables.Edit<CommDumpTable>().Add(dump);
  auto& ops = part_.tables.Edit<CommOpTable>();
  for (const CommOpRow& row : rows_) ops.Add(row);
  if (forgotten_ > 0) part_.diagnostics.AddMany(kForgotten, who_.input, forgotten_);
  if (replays_ > 0) part_.diagnostics.AddMany(kReplays, who_.input, replays_);
}

}  // namespace debrief::inputs::torchcomms_clog
