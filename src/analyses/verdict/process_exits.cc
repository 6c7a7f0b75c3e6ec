#include "analyses/verdict/process_exits.h"

#include <fmt/format.h>

#include "torch/end_signs.h"

namespace debrief::analyses::verdict {

namespace {

constexpr size_t kNoColumn = ~size_t{0};

// Columns of a table that this build may not know.
class Columns {
 public:
  explicit Columns(const Table& table) : table_(table) {}

  int32_t Number(std::string_view name, size_t row) const {
    return Value<int32_t>(name, ColumnType::kInt32, row, kNone32);
  }
  int64_t Time(std::string_view name, size_t row) const {
    return Value<int64_t>(name, ColumnType::kInt64, row, kNone64);
  }
  StringId Text(std::string_view name, size_t row) const {
    return Value<StringId>(name, ColumnType::kString, row, StringId::kNone);
  }
  bool Flag(std::string_view name, size_t row) const {
    return Value<uint8_t>(name, ColumnType::kBool, row, 0) != 0;
  }

 private:
  template <typename T>
  T Value(std::string_view name, ColumnType type, size_t row, T missing) const {
    size_t at = Find(name, type);
    return at == kNoColumn ? missing : ValueAt<T>(table_, at, row);
  }

  size_t Find(std::string_view name, ColumnType type) const {
    const auto& columns = table_.info().columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].name == name && columns[i].type == type) return i;
    }
    return kNoColumn;
  }

  const Table& table_;
};

}  // namespace

std::vector<ProcessExit> ProcessExitsOf(const Board& board) {
  std::vector<ProcessExit> exits;
  const Model& model = board.model();
  const Table* table = model.tables.FindFilled("process_exit");
  if (table == nullptr) return exits;
  Columns columns(*table);
  for (size_t row = 0; row < table->size(); ++row) {
    bool ours = columns.Number("job", row) == board.job() &&
                columns.Number("attempt", row) == board.attempt();
    if (!ours) continue;
    ProcessExit& exit = exits.emplace_back();
    exit.row = static_cast<int64_t>(row);
    exit.rank = columns.Number("rank", row);
    exit.time_ns = columns.Time("time_ns", row);
    int32_t code = columns.Number("exit_code", row);
    exit.exit_code = code == kNone32 ? code : SignalOrCode(code);
    exit.said_by = model.pools.Text(columns.Text("said_by", row));
    exit.text = model.pools.Text(columns.Text("text", row));
    exit.stopped = model.pools.Text(columns.Text("how", row)) == "stopped";
    exit.first = columns.Flag("first", row);
  }
  return exits;
}

void AddAttemptsOfExits(const Model& model, std::set<std::pair<int32_t, int32_t>>& attempts) {
  const Table* table = model.tables.FindFilled("process_exit");
  if (table == nullptr) return;
  Columns columns(*table);
  for (size_t row = 0; row < table->size(); ++row)
    attempts.emplace(columns.Number("job", row), columns.Number("attempt", row));
}

std::string EndInWords(int32_t exit_code) {
  if (exit_code == kNone32) return "ended";
  if (exit_code >= 0) return fmt::format("exited with code {}", exit_code);
  return fmt::format("ended by {} (signal {})", SignalName(-exit_code), -exit_code);
}

}  // namespace debrief::analyses::verdict
