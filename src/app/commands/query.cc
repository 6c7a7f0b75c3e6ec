// debrief query: SQL over the store of a report.
#include "outputs/store/query.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <string>

#include "app/check_paths.h"
#include "app/commands/commands.h"
#include "app/console/line_editor.h"
#include "app/console/query_commands.h"
#include "app/terminal.h"
#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "model/table.h"
#include "outputs/store/parquet_store.h"
#include "outputs/store/store.h"

namespace debrief {

namespace {

using outputs::store::Database;

// Statements as they come, each printed in the format of the moment.
class QueryRun {
 public:
  QueryRun(Database& database, std::string format)
      : database_(database), format_(std::move(format)) {}

  bool has_ended() const { return has_ended_; }

  Status Run(const std::string& statement) {
    if (!IsDotCommand(statement)) return Print(statement);
    ASSIGN_OR_RETURN(const DotCommand command, ReadDotCommand(statement, database_));
    if (!command.format.empty()) format_ = command.format;
    has_ended_ = command.has_ended;
    StdoutSink().Write(command.text);
    return command.sql.empty() ? Status() : Print(command.sql);
  }

 private:
  Status Print(const std::string& sql) {
    outputs::store::QueryOptions options{.format = FormatOf(format_),
                                         .width = isatty(STDOUT_FILENO) != 0 ? TerminalWidth() : 0};
    StdoutSink sink;
    return outputs::store::RunQuery(database_, sql, options, sink);
  }

  Database& database_;
  std::string format_;
  bool has_ended_ = false;
};

// Whether what was read so far is to be run.
bool IsComplete(std::string_view statement) {
  const std::string_view text = Trimmed(statement);
  return text.ends_with(';') || IsDotCommand(text);
}

// Lines from stdin: with keys and completion where somebody types, as they are elsewhere.
class Lines {
 public:
  bool Next(bool is_first, std::string& line) {
    cancelled = false;
    if (!is_typed_) return static_cast<bool>(std::getline(std::cin, line));
    auto read = editor_.Read(is_first ? "debrief> " : "    ...> ", cancelled);
    line = read.value_or("");
    return read.has_value();
  }

  bool cancelled = false;

 private:
  bool is_typed_ = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  LineEditor editor_{CompleteName};
};

// Statements from stdin, each up to its semicolon; a wrong one is named and the next is read.
int Prompt(QueryRun& run) {
  Lines lines;
  std::string statement;
  bool all_good = true, more = true;
  for (std::string line; more && !run.has_ended();) {
    more = lines.Next(statement.empty(), line);
    if (more) statement += line + "\n";
    if (lines.cancelled || Trimmed(statement).empty()) statement.clear();
    if (statement.empty() || (more && !IsComplete(statement))) continue;
    Status status = run.Run(statement);
    if (!status.ok()) PrintError(status);
    all_good &= status.ok();
    statement.clear();
  }
  return all_good ? 0 : 2;
}

// The statement to run; of --table one that gives its rows in their order.
Result<std::string> Statement(const QueryOptions& options) {
  if (options.table.empty()) return options.sql;
  if (FindTable(options.table) != nullptr)
    return "FROM " + outputs::store::QuoteName(options.table);
  std::vector<std::string> names;
  for (const TableInfo* table : AllTables()) names.emplace_back(table->name);
  const std::string_view nearest = NearestName(options.table, names);
  return Status(Code::kUsage, fmt::format("there is no table {}", options.table))
      .Remedy(nearest.empty() ? "See which there are: debrief list tables"
                              : fmt::format("Did you mean {}?", nearest));
}

}  // namespace

int RunQueryCommand(const QueryOptions& options, const GlobalOptions& global) {
  if (Status status = CheckPaths({&options.output, 1}); !status.ok()) return Fail(status);
  auto database = outputs::store::HasParquetAlone(options.output)
                      ? outputs::store::OpenParquetStore(options.output, {})
                      : Database::Open(outputs::store::StorePath(options.output), {});
  if (!database.ok()) return Fail(database.status());
  if (Status same = outputs::store::CheckRun(options.output, database.value()); !same.ok())
    PrintError(same);
  auto sql = Statement(options);
  if (!sql.ok()) return Fail(sql.status());
  QueryRun run(database.value(), global.json ? "json" : options.csv ? "csv" : options.format);
  if (sql.value().empty()) return Prompt(run);
  Status status = run.Run(sql.value());
  return status.ok() ? 0 : Fail(status);
}

}  // namespace debrief
