#include "serve/sql_page.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <charconv>
#include <cstdlib>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/json/writer.h"
#include "base/text/scan.h"
#include "outputs/store/query.h"
#include "serve/sql_functions.h"

namespace debrief::serve {

namespace {

using outputs::store::DuckDbApi;
using outputs::store::DuckDbError;
using outputs::store::OnRow;
using outputs::store::Prepared;
using outputs::store::ResultColumn;
using outputs::store::Rows;
using outputs::store::Statements;
using outputs::store::ValueType;
using outputs::store::VectorView;

constexpr int64_t kExactInDouble = int64_t{1} << 53;

Status Usage(std::string text) { return Status(Code::kUsage, std::move(text)); }

// While it lives, cancelling the request interrupts the connection.
class Interruptible {
 public:
  Interruptible(outputs::store::Connection& connection, CancelToken& cancel) : cancel_(cancel) {
    cancel_.StopWith([&connection] { connection.api.interrupt(connection.handle); });
  }
  Interruptible(const Interruptible&) = delete;
  ~Interruptible() { cancel_.StopWith(nullptr); }

 private:
  CancelToken& cancel_;
};

// Without what ends a statement: it is to stand in parentheses.
std::string WithoutEnd(std::string sql) {
  sql.erase(sql.find_last_not_of("; \t\r\n") + 1);
  return sql;
}

class Reader {
 public:
  Reader(outputs::store::Connection& connection, CancelToken& cancel)
      : api_(connection.api),
        connection_(connection.handle),
        cancel_(cancel),
        interruptible_(connection, cancel) {}

  using OnColumns = std::function<void(const std::vector<ResultColumn>&)>;

  // `tail` follows the statement: LIMIT and OFFSET.
  Status Run(const std::string& sql, const std::string& tail, const OnColumns& on_columns,
             const OnRow& on_row) {
    TRY(CheckCount(sql));
    TRY(CheckFunctionsOf(sql));
    TRY(CheckStatement(sql));
    Statements statements(api_);
    Prepared prepared(api_);
    TRY(Prepare(fmt::format("SELECT * FROM (\n{}\n){}", WithoutEnd(sql), tail), statements,
                prepared));
    if (cancel_.cancelled()) return GivenUp();
    Rows rows(api_);
    const bool ran =
        api_.execute_prepared_streaming(prepared.handle, &rows.handle) == DuckDBSuccess;
    Status status =
        ran ? Read(rows, on_columns, on_row) : ResultError(api_, rows.handle, Code::kUsage);
    return cancel_.cancelled() ? GivenUp() : status;
  }

 private:
  // Before anything of it is prepared: some functions act when their names are looked up.
  Status CheckFunctionsOf(const std::string& sql) {
    std::string parsed;
    TRY(RunOurs(ParseSql(sql), [&](std::span<const VectorView> values, uint64_t row) {
      AppendAsText(values[0], row, parsed);
      return Result<bool>(true);
    }));
    return CheckFunctions(parsed);
  }

  // A statement of ours, as it stands.
  Status RunOurs(const std::string& sql, const OnRow& on_row) {
    Statements statements(api_);
    Prepared prepared(api_);
    TRY(Prepare(sql, statements, prepared));
    Rows rows(api_);
    if (api_.execute_prepared_streaming(prepared.handle, &rows.handle) != DuckDBSuccess)
      return ResultError(api_, rows.handle, Code::kUsage);
    return Read(rows, [](const auto&) {}, on_row);
  }

  // As the user wrote it: exactly one, and one that reads.
  Status CheckStatement(const std::string& sql) {
    Statements statements(api_);
    Prepared prepared(api_);
    TRY(Prepare(sql, statements, prepared));
    if (api_.prepared_statement_type(prepared.handle) == DUCKDB_STATEMENT_TYPE_SELECT) return {};
    return Usage("only statements that read are run here: SELECT, FROM, WITH, DESCRIBE, SHOW");
  }

  Status CheckCount(const std::string& sql) {
    Statements statements(api_);
    return Extract(sql, statements);
  }

  Status Prepare(const std::string& sql, Statements& statements, Prepared& prepared) {
    TRY(Extract(sql, statements));
    return PrepareStatement(connection_, statements, 0, prepared);
  }

  Status Extract(const std::string& sql, Statements& statements) {
    if (sql.find('\0') != std::string_view::npos) return Usage("the statement has a NUL byte");
    idx_t count = api_.extract_statements(connection_, sql.c_str(), &statements.handle);
    if (count == 0) {
      const char* message = api_.extract_statements_error(statements.handle);
      return message != nullptr ? DuckDbError(message, Code::kUsage)
                                : Usage("there is no SQL statement");
    }
    if (count > 1) return Usage("there are several statements: send them one by one");
    return {};
  }

  Status Read(Rows& rows, const OnColumns& on_columns, const OnRow& on_row) {
    ASSIGN_OR_RETURN(const std::vector<ResultColumn> columns, ReadColumns(rows));
    on_columns(columns);
    return ForEachRow(rows, columns,
                      [&](std::span<const VectorView> values, uint64_t row) -> Result<bool> {
                        if (cancel_.cancelled()) return GivenUp();
                        return on_row(values, row);
                      });
  }

  const DuckDbApi& api_;
  duckdb_connection connection_;
  CancelToken& cancel_;
  Interruptible interruptible_;
};

std::string ColumnsJson(const std::vector<ResultColumn>& columns) {
  std::string out;
  JsonWriter json(&out);
  json.BeginArray();
  for (const ResultColumn& column : columns) {
    json.BeginObject().Field("name", column.name).Field("type", SqlName(column.type));
    json.EndObject();
  }
  json.EndArray();
  return out;
}

bool IsExactInDouble(std::string_view digits) {
  const int64_t number = LeadingNumber(digits, INT64_MAX);
  return number <= kExactInDouble && number >= -kExactInDouble;
}

bool IsInteger(const ValueType& type) {
  return type.is_number && type.id != DUCKDB_TYPE_FLOAT && type.id != DUCKDB_TYPE_DOUBLE;
}

void AppendCell(const VectorView& values, uint64_t row, std::string& out) {
  size_t start = out.size();
  AppendAsJson(values, row, out);
  if (values.IsNull(row) || !IsInteger(*values.type)) return;
  if (IsExactInDouble(std::string_view(out).substr(start))) return;
  out.insert(start, "\"");
  out += '"';
}

void AppendRow(std::span<const VectorView> values, uint64_t row, std::string& out) {
  out += '[';
  for (const VectorView& value : values) {
    if (&value != &values.front()) out += ", ";
    AppendCell(value, row, out);
  }
  out += ']';
}

// Whether a row takes `most` bytes or more; known before it is built.
bool IsLarger(std::span<const VectorView> values, uint64_t row, uint64_t most) {
  uint64_t bytes = 0;
  for (const VectorView& value : values) {
    bytes += LeastBytes(value, row, most);
    if (bytes >= most) return true;
  }
  return false;
}

// Writes into a file up to a bound; what went wrong is kept for the end.
class FileSink final : public TextSink {
 public:
  explicit FileSink(int file) : file_(file) {}

  void Write(std::string_view text) override {
    while (!text.empty() && status_.ok()) {
      ssize_t written = ::write(file_, text.data(), text.size());
      if (written <= 0) {
        status_ = Status(Code::kNoSpace, "cannot write the temporary file of a CSV");
        return;
      }
      bytes_ += static_cast<uint64_t>(written);
      text.remove_prefix(static_cast<size_t>(written));
    }
    if (bytes_ > kMaxCsvBytes)
      status_ = Status(Code::kLimit, "the CSV is larger than 1 GiB")
                    .Remedy("Write it with debrief query --format csv.");
  }

  const Status& status() const { return status_; }
  uint64_t bytes() const { return bytes_; }

 private:
  int file_;
  uint64_t bytes_ = 0;
  Status status_;
};

}  // namespace

Status GivenUp() {
  return Status(Code::kLimit, "the query took too long and was stopped")
      .Remedy("Ask for less, or run it with debrief query, which has no time limit.");
}

Result<Page> ReadPage(outputs::store::Connection& connection, const std::string& sql,
                      uint64_t limit, uint64_t offset, CancelToken& cancel) {
  Page page;
  uint64_t taken = 0;
  auto on_row = [&](std::span<const VectorView> values, uint64_t row) -> Result<bool> {
    size_t before = page.rows.size();
    if (taken == limit) return page.more = true, false;
    const bool is_too_large = IsLarger(values, row, kMaxPageBytes);
    if (taken > 0) page.rows += ", ";
    if (!is_too_large) AppendRow(values, row, page.rows);
    if (is_too_large || page.rows.size() > kMaxPageBytes) {
      if (taken == 0)
        return Status(Code::kLimit, "one row alone is larger than a page of 8 MiB")
            .Remedy("Select fewer columns, or a part of a text with left(column, 1000).");
      page.rows.resize(before);
      return page.more = true, false;
    }
    ++taken;
    return true;
  };
  page.rows = "[";
  TRY(Reader(connection, cancel)
          .Run(
              sql, fmt::format(" LIMIT {} OFFSET {}", limit + 1, offset),
              [&](const std::vector<ResultColumn>& columns) {
                page.columns = ColumnsJson(columns);
              },
              on_row));
  page.rows += "]";
  return page;
}

Result<UniqueFd> WriteCsv(outputs::store::Connection& connection, const std::string& sql,
                          const std::string& folder, CancelToken& cancel, int64_t& bytes) {
  UniqueFd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file.valid())
    return Status(Code::kIo, fmt::format("cannot make a temporary file in {}", folder))
        .Remedy("Set TMPDIR to a folder that can be written.");
  FileSink sink(file.get());
  auto printer =
      outputs::store::MakeRowPrinter({.format = outputs::store::QueryFormat::kCsv}, sink);
  auto on_row = [&](std::span<const VectorView> values, uint64_t row) -> Result<bool> {
    if (IsLarger(values, row, kMaxCsvRowBytes))
      return Status(Code::kLimit, "one row alone is larger than 64 MiB")
          .Remedy("Select fewer columns, or write it with debrief query --format csv.");
    printer->Row(values, row);
    if (!sink.status().ok()) return sink.status();
    return true;
  };
  TRY(Reader(connection, cancel)
          .Run(
              sql, "", [&](const std::vector<ResultColumn>& columns) { printer->Start(columns); },
              on_row));
  printer->Finish(false);
  TRY(sink.status());
  bytes = static_cast<int64_t>(sink.bytes());
  return file;
}

Result<std::vector<std::vector<std::string>>> ReadTexts(outputs::store::Connection& connection,
                                                        const std::string& sql,
                                                        CancelToken& cancel) {
  std::vector<std::vector<std::string>> rows;
  auto on_row = [&](std::span<const VectorView> values, uint64_t row) -> Result<bool> {
    auto& texts = rows.emplace_back(values.size());
    for (size_t i = 0; i < values.size(); ++i) AppendAsText(values[i], row, texts[i]);
    return true;
  };
  TRY(Reader(connection, cancel).Run(sql, "", [](const auto&) {}, on_row));
  return rows;
}

}  // namespace debrief::serve
