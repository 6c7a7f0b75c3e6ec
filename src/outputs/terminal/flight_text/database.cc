#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <type_traits>

#include "base/json/writer.h"
#include "base/pools/numbering.h"
#include "outputs/terminal/flight_text/flat_sinks.h"
#include "outputs/terminal/flight_text/flight_text.h"
#include "tables/comm_op.h"
#include "tables/input.h"
#include "tables/process_exit.h"
#include "tables/process_identity.h"
#include "tables/rank.h"
#include "tables/recording.h"

namespace debrief::outputs::flight_text {

namespace {

// Ids of what rows refer to.
class Ids {
 public:
  Ids(const Model& model, const Dumps& dumps) : model_(model), dumps_(dumps) {}

  std::string_view Group(const Entry& entry, int32_t rank) const {
    auto found = dumps_.group_of.find({entry.group_name, rank});
    return found == dumps_.group_of.end() ? entry.group_name
                                          : dumps_.groups[static_cast<size_t>(found->second)].key;
  }

  // none for an entry without a stack.
  int32_t Traceback(StackId stack) {
    if (model_.pools.GetStack(stack).empty()) return kNone32;
    return static_cast<int32_t>(stacks_.Of(stack));
  }

  const std::vector<StackId>& stacks() const { return stacks_.all(); }

 private:
  const Model& model_;
  const Dumps& dumps_;
  Numbering<StackId> stacks_;
};

// "[[4, 4], [8]]" is JSON; anything else is not ours to pass on.
std::string_view SizesJson(std::string_view sizes) {
  bool plain =
      sizes.find_first_not_of("[]0123456789, ") == std::string_view::npos && sizes.starts_with('[');
  return plain ? sizes : "[]";
}

// Columns as "id BIGINT; name VARCHAR".
FlatTable NewTable(std::string_view name, std::string_view columns) {
  FlatTable table{.name = name, .columns = {}};
  while (!columns.empty()) {
    size_t blank = columns.find(' '), end = std::min(columns.find(';'), columns.size());
    table.columns.push_back({columns.substr(0, blank), columns.substr(blank + 1, end - blank - 1)});
    columns.remove_prefix(std::min(end + 2, columns.size()));
  }
  return table;
}

// A value that is JSON already.
struct Json {
  std::string_view text;
};

template <typename Value>
void WriteField(JsonWriter& json, std::string_view name, const Value& value) {
  if constexpr (std::is_same_v<Value, Json>) {
    json.Key(name).Raw(value.text);
  } else if constexpr (std::is_same_v<Value, std::vector<int32_t>>) {
    json.ListField(name, value);
  } else {
    json.Field(name, value);
  }
}

// One table, as it goes to the sink. The first error is kept, and what comes after it is dropped.
class TableRows {
 public:
  TableRows(FlatSink& sink, std::string_view name, std::string_view columns)
      : sink_(sink), table_(NewTable(name, columns)), status_(sink.Begin(table_)) {}

  // A row of values in the order of the columns.
  template <typename... Values>
  void Add(const Values&... values) {
    AddObject([&](JsonWriter& json) {
      auto column = table_.columns.begin();
      (WriteField(json, (column++)->name, values), ...);
    });
  }

  template <typename Fill>
  void AddObject(Fill&& fill) {
    row_.clear();
    JsonWriter json(&row_);
    json.BeginObject();
    fill(json);
    json.EndObject();
    if (status_.ok()) status_ = sink_.Row(row_);
  }

  Status End() {
    TRY(std::move(status_));
    return sink_.End(table_);
  }

 private:
  FlatSink& sink_;
  FlatTable table_;
  Status status_;
  std::string row_;
};

Status Groups(const Dumps& dumps, FlatSink& sink) {
  TableRows table(sink, "groups", "id VARCHAR; name VARCHAR; desc VARCHAR; size BIGINT");
  for (const DumpGroup& group : dumps.groups)
    table.Add(group.key, group.name, group.desc, group.ranks.size());
  return table.End();
}

Status Memberships(const Dumps& dumps, FlatSink& sink) {
  TableRows table(sink, "memberships", "group_id VARCHAR; global_rank BIGINT");
  for (const DumpGroup& group : dumps.groups)
    for (int32_t rank : group.ranks) table.Add(group.key, rank);
  return table.End();
}

Status Tracebacks(const Model& model, const Ids& ids, FlatSink& sink) {
  TableRows table(sink, "tracebacks",
                  "id BIGINT; frames STRUCT(name VARCHAR, filename VARCHAR, line BIGINT)[]");
  for (size_t i = 0; i < ids.stacks().size(); ++i) {
    table.AddObject([&](JsonWriter& json) {
      json.Field("id", i);
      json.Objects("frames", model.pools.GetStack(ids.stacks()[i]), [&](FrameId id) {
        const Frame& frame = model.pools.GetFrame(id);
        json.Field("name", model.pools.Text(frame.function));
        json.Field("filename", model.pools.Text(frame.file)).Field("line", frame.line);
      });
    });
  }
  return table.End();
}

std::string MisfitsJson(const Collective& collective, Ids& ids) {
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const auto& [rank, entry, info] : collective.misfits) {
    json.BeginObject().Field("rank", rank);
    json.Field("collective_seq_id", entry.collective_seq).Field("p2p_seq_id", entry.p2p_seq);
    json.Field("record_id", entry.record).Field("pg_desc", GroupText(entry));
    json.Field("collective_name", ProfilingName(entry));
    json.Key("input_sizes").Raw(SizesJson(entry.input_sizes));
    json.Key("output_sizes").Raw(SizesJson(entry.output_sizes));
    json.Field("collective_state", entry.state);
    json.Field("type_of_mismatch", MatchStateName(info.state)).Field("detail", info.detail);
    json.Field("traceback_id", ids.Traceback(entry.stack)).EndObject();
  }
  json.EndArray();
  return text;
}

// The rank whose dump names the collective's group.
int32_t AnyMember(const Collective& collective) {
  std::vector<int32_t> members = collective.expected.Items();
  return members.empty() ? kNone32 : *std::min_element(members.begin(), members.end());
}

Status Collectives(const Database& db, Ids& ids, FlatSink& sink) {
  TableRows table(sink, "collectives",
                  "id BIGINT; group_id VARCHAR; pass_check BOOLEAN; collective_seq_id BIGINT; "
                  "p2p_seq_id BIGINT; record_id BIGINT; pg_desc VARCHAR; collective_name VARCHAR; "
                  "input_sizes BIGINT[][]; output_sizes BIGINT[][]; expected_ranks BIGINT[]; "
                  "collective_state VARCHAR; missing_ranks BIGINT[]; mismatch_collectives JSON; "
                  "type_of_mismatch VARCHAR; traceback_id BIGINT");
  for (const Collective& one : db.collectives) {
    const Entry& entry = one.entry;
    const std::string misfits = MisfitsJson(one, ids);
    std::optional<std::string_view> mismatch;
    if (!one.misfits.empty()) mismatch = MatchStateName(one.misfits.front().info.state);
    table.Add(one.id, ids.Group(entry, AnyMember(one)), one.pass_check, entry.collective_seq,
              entry.p2p_seq, entry.record, GroupText(entry), ProfilingName(entry),
              Json{SizesJson(entry.input_sizes)}, Json{SizesJson(entry.output_sizes)},
              one.expected.Items(), entry.state, one.missing.value_or(PythonSet()).Items(),
              Json{misfits}, mismatch, ids.Traceback(entry.stack));
  }
  return table.End();
}

Status Calls(const Model& model, const Database& db, Ids& ids, FlatSink& sink) {
  TableRows table(sink, "ncclcalls",
                  "id BIGINT; collective_id BIGINT; group_id VARCHAR; global_rank BIGINT; "
                  "traceback_id BIGINT; collective_type VARCHAR; sizes BIGINT[][]");
  for (const NcclCall& call : db.calls) {
    const Entry entry = ReadEntry(model, call.row);
    table.Add(call.id, call.collective, ids.Group(entry, call.rank), call.rank,
              ids.Traceback(entry.stack), ProfilingName(entry), Json{SizesJson(entry.input_sizes)});
  }
  return table.End();
}

// What inputs tell of the processes that the ranks of an attempt are.
struct Process {
  StringId host = StringId::kNone;
  int64_t pid = kNone64;
};

// The last row of a table that names a process counts: what comes later is nearer to the dump.
template <typename Table>
void LearnProcesses(const Table& table, const Dumps& dumps, std::map<int32_t, Process>& processes) {
  for (size_t i = 0; i < table.size(); ++i) {
    if (table.job[i] != dumps.job || table.attempt[i] != dumps.attempt) continue;
    Process& process = processes[table.rank[i]];
    if (table.host[i] != StringId::kNone) process.host = table.host[i];
    if constexpr (requires { table.pid; }) {
      if (table.pid[i] != kNone64) process.pid = table.pid[i];
    }
  }
}

Status Processes(const Model& model, const Dumps& dumps, FlatSink& sink) {
  const auto& ops = model.tables.Get<CommOpTable>();
  const auto& inputs = model.tables.Get<InputTable>();
  TableRows table(sink, "processes", "rank BIGINT; host VARCHAR; pid BIGINT; input VARCHAR");
  std::map<int32_t, Process> processes;
  LearnProcesses(model.tables.Get<ProcessExitTable>(), dumps, processes);
  LearnProcesses(model.tables.Get<ProcessIdentityTable>(), dumps, processes);
  LearnProcesses(model.tables.Get<RecordingTable>(), dumps, processes);
  LearnProcesses(model.tables.Get<RankTable>(), dumps, processes);
  for (const RankDump& dump : dumps.ranks) {
    const Process process = processes[dump.rank];
    std::string_view path;
    int32_t input = dump.entries.empty() ? kNone32 : ops.input[dump.entries.front().row];
    if (input >= 0 && static_cast<size_t>(input) < inputs.size())
      path = model.pools.Text(inputs.path[static_cast<size_t>(input)]);
    table.Add(dump.rank, model.pools.Text(process.host), process.pid, path);
  }
  return table.End();
}

Status Threads(const Model& model, const Dumps& dumps, FlatSink& sink) {
  const auto& ops = model.tables.Get<CommOpTable>();
  TableRows table(sink, "threads", "rank BIGINT; thread VARCHAR");
  std::set<std::pair<int32_t, std::string_view>> seen;
  for (const RankDump& dump : dumps.ranks) {
    for (const Entry& entry : dump.entries) {
      std::string_view thread = model.pools.Text(ops.thread[entry.row]);
      if (!thread.empty()) seen.emplace(dump.rank, thread);
    }
  }
  for (const auto& [rank, thread] : seen) table.Add(rank, thread);
  return table.End();
}

Status Ops(const Model& model, const Dumps& dumps, const Database& db, Ids& ids, FlatSink& sink) {
  TableRows table(sink, "ops",
                  "rank BIGINT; record_id BIGINT; call_id BIGINT; collective_id BIGINT; group_id "
                  "VARCHAR; pg_id BIGINT; backend VARCHAR; op VARCHAR; src BIGINT; dst BIGINT; "
                  "collective_seq_id BIGINT; p2p_seq_id BIGINT; op_id BIGINT; is_p2p BOOLEAN; "
                  "input_sizes BIGINT[][]; output_sizes BIGINT[][]; input_dtypes VARCHAR; "
                  "output_dtypes VARCHAR; state VARCHAR; retired BOOLEAN; time_created_ns BIGINT; "
                  "time_discovered_started_ns BIGINT; time_discovered_completed_ns BIGINT; "
                  "duration_ns BIGINT; timeout_ms BIGINT; thread VARCHAR; traceback_id BIGINT");
  const auto& ops = model.tables.Get<CommOpTable>();
  std::map<size_t, const NcclCall*> calls;
  for (const NcclCall& call : db.calls) calls.try_emplace(call.row, &call);
  const NcclCall none{.id = kNone32, .collective = kNone32};
  for (const RankDump& dump : dumps.ranks) {
    for (const Entry& entry : dump.entries) {
      const size_t row = entry.row;
      const auto found = calls.find(row);
      const NcclCall& call = found == calls.end() ? none : *found->second;
      table.Add(dump.rank, entry.record, call.id, call.collective, ids.Group(entry, dump.rank),
                ops.pg_id[row], entry.backend, entry.op, entry.src, entry.dst, entry.collective_seq,
                entry.p2p_seq, ops.op_id[row], entry.is_p2p, Json{SizesJson(entry.input_sizes)},
                Json{SizesJson(entry.output_sizes)}, entry.input_dtypes, entry.output_dtypes,
                entry.state, ops.retired[row] != 0, ops.created_ns[row], ops.started_ns[row],
                ops.completed_ns[row], ops.duration_ns[row], ops.timeout_ms[row],
                model.pools.Text(ops.thread[row]), ids.Traceback(entry.stack));
    }
  }
  return table.End();
}

// The tables of one attempt.
Status WriteAttempt(const Model& model, const FlightTextOptions& options,
                    std::pair<int32_t, int32_t> attempt, bool compat, FlatSink& sink) {
  LoadOptions load = LoadOptionsOf(options, attempt);
  load.strict = load.align = compat;
  ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, load));
  ASSIGN_OR_RETURN(Database db, FindDatabase(model, dumps, options, compat));
  Ids ids(model, dumps);
  TRY(Groups(dumps, sink));
  TRY(Memberships(dumps, sink));
  TRY(Collectives(db, ids, sink));
  TRY(Calls(model, db, ids, sink));
  TRY(Processes(model, dumps, sink));
  TRY(Threads(model, dumps, sink));
  TRY(Ops(model, dumps, db, ids, sink));
  return Tracebacks(model, ids, sink);
}

}  // namespace

Status WriteFlatTables(const Model& model, const FlightTextOptions& options, bool compat,
                       FlatSink& sink) {
  auto attempts = AttemptsWithDumps(model);
  if (attempts.size() != 1) {
    return Status(Code::kUsage,
                  fmt::format("-o takes the dumps of one job; there are {}", attempts.size()))
        .Remedy("Name the folder of one job.");
  }
  return WriteAttempt(model, options, attempts.front(), compat, sink);
}

Status WriteFlatJson(const Model& model, const FlightTextOptions& options, bool compat,
                     const std::function<Status(std::string_view)>& append) {
  TRY(append("{\"schema\": 1"));
  JsonSink sink(append);
  TRY(WriteFlatTables(model, options, compat, sink));
  return append("}\n");
}

Status WriteFlatPickle(const Model& model, const FlightTextOptions& options, bool compat,
                       const std::function<Status(std::string_view)>& append) {
  PickleSink sink(append);
  TRY(WriteFlatTables(model, options, compat, sink));
  return sink.Finish();
}

Status WriteTables(const Model& model, const FlightTextOptions& options, TextSink& out) {
  TextTableSink sink(Log(out, /*verbose=*/true));
  for (auto attempt : AttemptsWithDumps(model))
    TRY(WriteAttempt(model, options, attempt, /*compat=*/false, sink));
  return {};
}

}  // namespace debrief::outputs::flight_text
