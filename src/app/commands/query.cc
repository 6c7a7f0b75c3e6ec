// debrief query: SQL over the store of a report.
#include "outputs/store/query.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

#include "app/commands/commands.h"
#include "app/terminal.h"
#include "model/table.h"
#include "outputs/store/store.h"

namespace debrief {

namespace {

using outputs::store::Database;
using outputs::store::QueryFormat;

Status Print(Database& database, const std::string& sql, const QueryOptions& options, bool json) {
  outputs::store::QueryOptions query;
  query.format = json || options.format == "json"         ? QueryFormat::kJson
                 : options.csv || options.format == "csv" ? QueryFormat::kCsv
                                                          : QueryFormat::kTable;
  query.width = isatty(STDOUT_FILENO) != 0 ? TerminalWidth() : 0;
  StdoutSink sink;
  return outputs::store::RunQuery(database, sql, query, sink);
}

// Statements from stdin, each up to its semicolon; a wrong one is told and the next is read.
int Prompt(Database& database, const QueryOptions& options, bool json) {
  bool ask = isatty(STDIN_FILENO) != 0;
  std::string statement;
  bool all_good = true;
  for (std::string line;;) {
    if (ask) std::cerr << (statement.empty() ? "debrief> " : "    ...> ");
    bool more = static_cast<bool>(std::getline(std::cin, line));
    if (more) statement += line + "\n";
    bool complete = statement.find_last_not_of(" \n\t") != std::string::npos &&
                    (!more || statement[statement.find_last_not_of(" \n\t")] == ';');
    if (complete) {
      Status status = Print(database, statement, options, json);
      if (!status.ok()) PrintError(status);
      all_good &= status.ok();
      statement.clear();
    }
    if (!more) break;
  }
  return all_good ? 0 : 2;
}

// The statement to run; of --table one that gives its rows in their order.
Result<std::string> Statement(const QueryOptions& options) {
  if (options.table.empty()) return options.sql;
  if (FindTable(options.table) != nullptr)
    return "FROM " + outputs::store::QuoteName(options.table);
  return Status(Code::kUsage, fmt::format("there is no table {}", options.table))
      .Remedy("See which there are: debrief list tables");
}

}  // namespace

int RunQueryCommand(const QueryOptions& options, const GlobalOptions& global) {
  auto database = Database::Open(outputs::store::StorePath(options.output), {});
  if (!database.ok()) return Fail(database.status());
  if (Status same = outputs::store::CheckRun(options.output, database.value()); !same.ok())
    PrintError(same);
  auto sql = Statement(options);
  if (sql.ok() && sql.value().empty()) return Prompt(database.value(), options, global.json);
  Status status =
      sql.ok() ? Print(database.value(), sql.value(), options, global.json) : sql.status();
  return status.ok() ? 0 : Fail(status);
}

}  // namespace debrief
