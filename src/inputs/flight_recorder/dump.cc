#include "inputs/flight_recorder/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "inputs/flight_recorder/diagnostics.h"
#include "tables/comm_dump.h"
#include "tables/comm_group.h"
#include "tables/comm_status.h"
#include "torch/recorder_kinds.h"

namespace debrief::inputs::flight_recorder {

namespace {

// The schema this reader was written for.
constexpr std::pair<int, int> kNewestVersion = {2, 10};

std::pair<int, int> ParseVersion(std::string_view text) {
  std::pair<int, int> version = {0, 0};
  const char* end = text.data() + text.size();
  auto major = std::from_chars(text.data(), end, version.first);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.')
    (void)std::from_chars(major.ptr + 1, end, version.second);
  return version;
}

// Entries name their group; the group's members stand elsewhere in the dump.
void JoinMembers(Part& part) {
  const auto& groups = part.tables.Get<CommGroupTable>();
  if (groups.size() == 0) return;
  std::vector<ListId> members(part.pools.strings.size(), ListId::kNone);
  for (size_t i = 0; i < groups.size(); ++i)
    members[static_cast<uint32_t>(groups.name[i])] = groups.members[i];
  auto& ops = part.tables.Edit<CommOpTable>();
  for (size_t i = 0; i < ops.size(); ++i)
    ops.members[i] = members[static_cast<uint32_t>(ops.group_name[i])];
}

// Of recorders that see no states, an entry that left the list of work is completed.
void CompleteRetired(Part& part) {
  auto& ops = part.tables.Edit<CommOpTable>();
  const StringId completed = part.pools.Intern("completed");
  for (size_t i = 0; i < ops.size(); ++i) {
    if (ops.retired[i] != 0 &&
        RetiresWhenDone(part.pools.Text(ops.backend[i]), part.pools.Text(ops.group_desc[i])))
      ops.state[i] = completed;
  }
}

// torchcomms has one counter for all communicators of a process, and ranks of different groups
// differ by it: an operation is the n-th of its communicator instead. Sends and receives are not
// counted, since not all members do them.
void NumberByGroup(Part& part) {
  auto& ops = part.tables.Edit<CommOpTable>();
  for (size_t i = 0; i < ops.size(); ++i) {
    const bool grows = i == 0 || ops.collective_seq[i] > ops.collective_seq[i - 1];
    if (!grows ||
        !IsTorchcomms(part.pools.Text(ops.backend[i]), part.pools.Text(ops.group_desc[i])))
      return;
  }
  std::unordered_map<StringId, int32_t> newest;
  for (size_t i = 0; i < ops.size(); ++i) {
    int32_t& number = newest[ops.group_name[i]];
    ops.collective_seq[i] = ops.is_p2p[i] != 0 ? number : ++number;
  }
}

// Why a whole dump has no entries, by its groups and counters.
const DiagnosticKind& WhyEmpty(const Part& part) {
  const auto& status = part.tables.Get<CommStatusTable>();
  if (status.size() == 0 && part.tables.Get<CommGroupTable>().size() == 0) return kBeforeFirst;
  if (status.size() == 0) return kNoCounters;
  int64_t enqueued = 0, active = 0;
  for (size_t i = 0; i < status.size(); ++i) {
    enqueued += status.last_enqueued[i] != kNone64;
    active += status.last_enqueued[i] != status.last_completed[i];
  }
  return enqueued > 0 && active == 0 ? kNothingActive : kNoEntries;
}

void ReportHeader(Part& part, const Identity& who, const DumpHeader& header, int32_t first_record) {
  size_t entries = part.tables.Get<CommOpTable>().size();
  if (header.whole && entries == 0) part.diagnostics.Add(WhyEmpty(part), who.input);
  if (first_record > 0) {
    part.diagnostics.Add(kNotFromStart, who.input,
                         {.detail = fmt::format("the first is record {}", first_record)});
  }
  if (ParseVersion(header.version) > kNewestVersion) {
    part.diagnostics.Add(kUnknownVersion, who.input,
                         {.detail = fmt::format("version {}", header.version)});
  }
}

}  // namespace

CommOpRow DumpRows::NewOp() const {
  auto row = Part::RowOf<CommOpRow>(who_);
  row.input = who_.input;
  return row;
}

bool DumpRows::Name(StringId name, CommOpRow& row) {
  auto id = static_cast<uint32_t>(name);
  if (id >= name_at_.size()) name_at_.resize(std::max<size_t>(id + 1, 2 * name_at_.size()));
  if (name_at_[id] == 0) {
    names_.push_back(ParseName(part_.pools.Text(name)));
    name_at_[id] = static_cast<uint32_t>(names_.size());
  }
  const OpName& parsed = names_[name_at_[id] - 1];
  row.backend = parsed.backend;
  row.op = parsed.op;
  row.src = parsed.src;
  row.dst = parsed.dst;
  return parsed.is_p2p;
}

// "nccl:send 1->2" is rank 1 sending, "nccl:recv 3<-0" rank 3 receiving; "?" is any peer.
DumpRows::OpName DumpRows::ParseName(std::string_view name) {
  OpName parsed;
  size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) {
    parsed.backend = part_.pools.Intern(name.substr(0, colon));
    name.remove_prefix(colon + 1);
  }
  size_t blank = name.find(' ');
  std::string_view op = name.substr(0, blank);
  bool is_send = op == "send";
  const bool is_batch = op == "batch_op_issue";  // of sends and receives; does not tell which
  parsed.is_p2p = is_send || op == "recv" || is_batch;
  if (!parsed.is_p2p || is_batch) {
    bool has_backend = colon != std::string_view::npos;
    parsed.op = part_.pools.Intern(has_backend ? op : name);
    return parsed;
  }
  parsed.op = part_.pools.Intern(op);
  if (blank == std::string_view::npos) return parsed;
  std::string_view peers = name.substr(blank + 1);
  size_t arrow = peers.find(is_send ? "->" : "<-");
  if (arrow == std::string_view::npos) return parsed;
  int32_t me = Narrow(NumberOf(peers.substr(0, arrow)));
  int32_t peer = Narrow(NumberOf(peers.substr(arrow + 2)));
  parsed.src = is_send ? me : peer;
  parsed.dst = is_send ? peer : me;
  return parsed;
}

StringId DumpRows::Thread(StringId name, StringId id) {
  if (name == StringId::kNone) return id;
  if (id == StringId::kNone) return name;
  if (name != thread_name_ || id != thread_id_) {
    thread_name_ = name;
    thread_id_ = id;
    thread_ =
        part_.pools.Intern(fmt::format("{} ({})", part_.pools.Text(name), part_.pools.Text(id)));
  }
  return thread_;
}

void DumpRows::AddGroup(StringId name, StringId description, const MemberList& members) {
  auto row = Part::RowOf<CommGroupRow>(who_);
  row.input = who_.input;
  row.name = name;
  row.description = description;
  row.members = members.InternInto(part_.pools);
  part_.tables.Edit<CommGroupTable>().Add(row);
}

void DumpRows::AddStatus(int64_t pg_id, int64_t enqueued, int64_t started, int64_t completed) {
  auto seen = [](int64_t sequence) { return sequence == -1 ? kNone64 : sequence; };
  auto row = Part::RowOf<CommStatusRow>(who_);
  row.input = who_.input;
  row.pg_id = Narrow(pg_id);
  row.last_enqueued = seen(enqueued);
  row.last_started = seen(started);
  row.last_completed = seen(completed);
  part_.tables.Edit<CommStatusTable>().Add(row);
}

int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool good = error == std::errc() && end == text.data() + text.size();
  return good ? number : kNone64;
}

int64_t MillisToNs(double millis) {
  constexpr double kLongest = 9e12;          // what fits int64 nanoseconds: 285 years
  bool fits = std::abs(millis) <= kLongest;  // false for NaN, too
  return fits ? std::llround(millis * 1e6) : kNone64;
}

int64_t MicrosToNs(int64_t micros) {
  int64_t nanos = 0;
  bool overflows = __builtin_mul_overflow(micros, int64_t{1000}, &nanos);
  return overflows || micros == 0 ? kNone64 : nanos;
}

void FinishDump(Part& part, const Identity& who, const DumpHeader& header) {
  JoinMembers(part);
  CompleteRetired(part);
  NumberByGroup(part);
  const auto& ops = part.tables.Get<CommOpTable>();
  auto row = Part::RowOf<CommDumpRow>(who);
  row.input = who.input;
  if (!header.version.empty()) row.version = part.pools.Intern(header.version);
  if (!header.library.empty()) row.library = part.pools.Intern(header.library);
  row.form = part.pools.Intern(header.form);
  row.entries = static_cast<int32_t>(ops.size());
  row.first_record = ops.size() == 0 ? kNone32 : ops.record.front();
  row.whole = header.whole ? 1 : 0;
  row.has_stacks = std::any_of(ops.stack.begin(), ops.stack.end(),
                               [](StackId stack) { return stack != StackId::kNone; });
  part.tables.Edit<CommDumpTable>().Add(row);
  ReportHeader(part, who, header, row.first_record);
}

}  // namespace debrief::inputs::flight_recorder
