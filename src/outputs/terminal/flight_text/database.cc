#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <type_traits>

#include "base/json/writer.h"
#include "base/pools/numbering.h"
#include "outputs/terminal/flight_text/flight_text.h"
#include "tables/comm_op.h"
#include "tables/input.h"
#include "tables/rank.h"

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
  FlatTable table{.name = name, .columns = {}, .rows = {}};
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

// A row of values in the order of the columns.
template <typename... Values>
void AddRow(FlatTable& table, const Values&... values) {
  JsonWriter json(&table.rows.emplace_back());
  auto column = table.columns.begin();
  json.BeginObject();
  (WriteField(json, (column++)->name, values), ...);
  json.EndObject();
}

FlatTable Groups(const Dumps& dumps) {
  FlatTable table = NewTable("groups", "id VARCHAR; name VARCHAR; desc VARCHAR; size BIGINT");
  for (const DumpGroup& group : dumps.groups)
    AddRow(table, group.key, group.name, group.desc, group.ranks.size());
  return table;
}

FlatTable Memberships(const Dumps& dumps) {
  FlatTable table = NewTable("memberships", "group_id VARCHAR; global_rank BIGINT");
  for (const DumpGroup& group : dumps.groups)
    for (int32_t rank : group.ranks) AddRow(table, group.key, rank);
  return table;
}

FlatTable Tracebacks(const Model& model, const Ids& ids) {
  FlatTable table = NewTable(
      "tracebacks", "id BIGINT; frames STRUCT(name VARCHAR, filename VARCHAR, line BIGINT)[]");
  for (size_t i = 0; i < ids.stacks().size(); ++i) {
    JsonWriter json(&table.rows.emplace_back());
    json.BeginObject().Field("id", i);
    json.Objects("frames", model.pools.GetStack(ids.stacks()[i]), [&](FrameId id) {
      const Frame& frame = model.pools.GetFrame(id);
      json.Field("name", model.pools.Text(frame.function));
      json.Field("filename", model.pools.Text(frame.file)).Field("line", frame.line);
    });
    json.EndObject();
  }
  return table;
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

FlatTable Collectives(const Database& db, Ids& ids) {
  FlatTable table =
      NewTable("collectives",
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
    AddRow(table, one.id, ids.Group(entry, AnyMember(one)), one.pass_check, entry.collective_seq,
           entry.p2p_seq, entry.record, GroupText(entry), ProfilingName(entry),
           Json{SizesJson(entry.input_sizes)}, Json{SizesJson(entry.output_sizes)},
           one.expected.Items(), entry.state, one.missing.value_or(PythonSet()).Items(),
           Json{misfits}, mismatch, ids.Traceback(entry.stack));
  }
  return table;
}

FlatTable Calls(const Model& model, const Database& db, Ids& ids) {
  FlatTable table =
      NewTable("ncclcalls",
               "id BIGINT; collective_id BIGINT; group_id VARCHAR; global_rank BIGINT; "
               "traceback_id BIGINT; collective_type VARCHAR; sizes BIGINT[][]");
  for (const NcclCall& call : db.calls) {
    const Entry entry = ReadEntry(model, call.row);
    AddRow(table, call.id, call.collective, ids.Group(entry, call.rank), call.rank,
           ids.Traceback(entry.stack), ProfilingName(entry), Json{SizesJson(entry.input_sizes)});
  }
  return table;
}

FlatTable Processes(const Model& model, const Dumps& dumps) {
  const auto& ops = model.tables.Get<CommOpTable>();
  const auto& inputs = model.tables.Get<InputTable>();
  const auto& ranks = model.tables.Get<RankTable>();
  FlatTable table = NewTable("processes", "rank BIGINT; host VARCHAR; input VARCHAR");
  for (const RankDump& dump : dumps.ranks) {
    std::string_view host;
    for (size_t i = 0; i < ranks.size(); ++i) {
      if (ranks.rank[i] == dump.rank) host = model.pools.Text(ranks.host[i]);
    }
    std::string_view path;
    int32_t input = dump.entries.empty() ? kNone32 : ops.input[dump.entries.front().row];
    if (input >= 0 && static_cast<size_t>(input) < inputs.size())
      path = model.pools.Text(inputs.path[static_cast<size_t>(input)]);
    AddRow(table, dump.rank, host, path);
  }
  return table;
}

FlatTable Threads(const Model& model, const Dumps& dumps) {
  const auto& ops = model.tables.Get<CommOpTable>();
  FlatTable table = NewTable("threads", "rank BIGINT; thread VARCHAR");
  std::set<std::pair<int32_t, std::string_view>> seen;
  for (const RankDump& dump : dumps.ranks) {
    for (const Entry& entry : dump.entries) {
      std::string_view thread = model.pools.Text(ops.thread[entry.row]);
      if (!thread.empty()) seen.emplace(dump.rank, thread);
    }
  }
  for (const auto& [rank, thread] : seen) AddRow(table, rank, thread);
  return table;
}

FlatTable Ops(const Model& model, const Dumps& dumps, const Database& db, Ids& ids) {
  FlatTable table =
      NewTable("ops",
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
      AddRow(table, dump.rank, entry.record, call.id, call.collective, ids.Group(entry, dump.rank),
             ops.pg_id[row], entry.backend, entry.op, entry.src, entry.dst, entry.collective_seq,
             entry.p2p_seq, ops.op_id[row], entry.is_p2p, Json{SizesJson(entry.input_sizes)},
             Json{SizesJson(entry.output_sizes)}, entry.input_dtypes, entry.output_dtypes,
             entry.state, ops.retired[row] != 0, ops.created_ns[row], ops.started_ns[row],
             ops.completed_ns[row], ops.duration_ns[row], ops.timeout_ms[row],
             model.pools.Text(ops.thread[row]), ids.Traceback(entry.stack));
    }
  }
  return table;
}

}  // namespace

Result<std::vector<FlatTable>> MakeFlatTables(const Model& model, const FlightTextOptions& options,
                                              bool compat) {
  auto attempts = AttemptsWithDumps(model);
  if (attempts.size() != 1) {
    return Status(Code::kUsage,
                  fmt::format("-o takes the dumps of one job; there are {}", attempts.size()))
        .Remedy("Name the folder of one job.");
  }
  LoadOptions load = LoadOptionsOf(options, attempts.front());
  load.strict = load.align = compat;
  ASSIGN_OR_RETURN(Dumps dumps, LoadDumps(model, load));
  ASSIGN_OR_RETURN(Database db, FindDatabase(model, dumps, options, compat));
  Ids ids(model, dumps);
  std::vector<FlatTable> tables;
  tables.push_back(Groups(dumps));
  tables.push_back(Memberships(dumps));
  tables.push_back(Collectives(db, ids));
  tables.push_back(Calls(model, db, ids));
  tables.push_back(Processes(model, dumps));
  tables.push_back(Threads(model, dumps));
  tables.push_back(Ops(model, dumps, db, ids));
  tables.push_back(Tracebacks(model, ids));
  return tables;
}

std::string FlatTablesAsJson(const std::vector<FlatTable>& tables) {
  std::string text = "{\"schema\": 1";
  for (const FlatTable& table : tables) {
    text += fmt::format(",\n\"{}\": [", table.name);
    for (size_t i = 0; i < table.rows.size(); ++i) {
      text += i == 0 ? "\n" : ",\n";
      text += table.rows[i];
    }
    text += "]";
  }
  return text + "}\n";
}

}  // namespace debrief::outputs::flight_text
