#include "inputs/flight_recorder/comm_state.h"

#include <algorithm>

#include "base/text/strings.h"
#include "inputs/flight_recorder/dump.h"

namespace debrief::inputs::flight_recorder {

namespace {

constexpr size_t kMostPeers = 4096;

// "\"default_pg\"": a text is quoted once more.
std::string Unquoted(std::string_view value) { return std::string(Trimmed(value, " \"")); }

}  // namespace

Status CommState::ReadOp(JsonValue value, Ops& ops) {
  if (value.kind() != JsonKind::kObject) return {};
  ++ops.count;
  const bool is_first = ops.count == 1;
  return value.ForEachField([&](std::string_view key, JsonValue field) {
    if (key == "opName" && is_first) ops.first_op = field.String().value_or("");
    if (key != "opCount") return;
    const int64_t number = field.IntOrText().value_or(kNone64);
    if (is_first) ops.first_number = number;
    ops.last_number = std::max(ops.last_number, number);
  });
}

// A list, or of older versions one operation or null.
Status CommState::ReadOps(JsonValue list, Ops& ops) {
  if (list.kind() == JsonKind::kObject) return ReadOp(list, ops);
  return list.ForEachElement([&](JsonValue op) { return ReadOp(op, ops); });
}

// {"remoteRank": 4, ..., "status": "IN_PROGRESS"}, or {"event": {"type": "IPUT", "peerRank": 4}}.
Status CommState::ReadPeer(JsonValue object) {
  int64_t peer = kNone64;
  bool done = false;
  TRY(object.ForEachField([&](std::string_view key, JsonValue field) -> Status {
    if (key == "remoteRank") peer = field.IntOrText().value_or(kNone64);
    if (key == "status") done = field.String().value_or("") == "DONE";
    if (key != "event" || field.kind() != JsonKind::kObject) return {};
    return field.ForEachField([&](std::string_view name, JsonValue value) {
      if (name == "peerRank") peer = value.IntOrText().value_or(kNone64);
    });
  }));
  if (peer >= 0 && !done && peers_.size() < kMostPeers) peers_.push_back(peer);
  return {};
}

Status CommState::ReadPeers(JsonValue list) {
  return list.ForEachElement([&](JsonValue element) -> Status {
    return element.kind() == JsonKind::kObject ? ReadPeer(element) : Status();
  });
}

void CommState::Add(std::string_view key, std::string_view value) {
  if (key == "commDesc") description_ = Unquoted(value);
  if (key == "stage") stage_ = Unquoted(value);
  if (key == "rank") rank_ = Narrow(NumberOf(Trimmed(value)));
  if (key == "nRanks") size_ = Narrow(NumberOf(Trimmed(value)));
  if (key == "CT_currentIteration") iteration_ = NumberOf(Trimmed(value));
  const bool is_current = key == "CT_currentColls" || key == "CT_currentColl";
  const bool is_ops = is_current || key == "CT_pendingColls" || key == "CT_pastColls";
  const bool is_peers = key == "PT_activeOps" || key == "MT_unfinishedRequests";
  const std::string_view json = Trimmed(value);
  if ((!is_ops && !is_peers) || (!json.starts_with('[') && !json.starts_with('{'))) return;
  std::string padded(json);
  padded.append(kPadding, '\0');
  JsonReader reader;
  if (!reader.Open({padded.data(), json.size()}).ok()) return;
  Ops& ops = is_current ? current_ : key == "CT_pastColls" ? past_ : pending_;
  const Status status = is_ops ? ReadOps(reader.root(), ops) : ReadPeers(reader.root());
  static_cast<void>(status);  // what was read before the text broke is true
}

void CommState::AddTo(const Identity& who, Part& part) const {
  auto row = Part::RowOf<CommStateRow>(who);
  row.input = who.input;
  row.comm = part.pools.Intern(comm_);
  if (!description_.empty()) row.description = part.pools.Intern(description_);
  if (!stage_.empty()) row.stage = part.pools.Intern(stage_);
  row.comm_rank = rank_;
  row.comm_size = size_;
  row.iteration = iteration_;
  row.current = current_.count;
  if (!current_.first_op.empty()) row.op = part.pools.Intern(current_.first_op);
  row.op_count = current_.first_number;
  row.done_count = past_.last_number;
  row.pending = pending_.count;
  std::vector<int64_t> peers = peers_;
  std::sort(peers.begin(), peers.end());
  peers.erase(std::unique(peers.begin(), peers.end()), peers.end());
  if (!peers.empty()) row.waits_for = part.pools.lists.Intern(peers);
  part.tables.Edit<CommStateTable>().Add(row);
}

}  // namespace debrief::inputs::flight_recorder
