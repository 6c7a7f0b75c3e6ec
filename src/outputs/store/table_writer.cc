#include "outputs/store/table_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "outputs/store/text_column.h"

namespace debrief::outputs::store {

namespace {

constexpr size_t kBitsPerWord = 64;

// One pass of DuckDB over one table.
struct Scan {
  struct Column {
    const ColumnInfo* info;
    size_t index;                    // in the table
    std::optional<TextColumn> text;  // strings, lists, stacks
    duckdb_logical_type type = nullptr;
    duckdb_type code_type = DUCKDB_TYPE_INVALID;  // width of the codes of an ENUM
  };
  const DuckDbApi* api;
  const Table* table = nullptr;
  std::vector<Column> columns;
  std::vector<uint32_t> ids;  // scratch: those of a column that are written now
  size_t rows = 0;
  size_t next = 0;
};

// DUCKDB_TYPE_INVALID for what is stored as text.
duckdb_type NumberType(ColumnType type) {
  constexpr duckdb_type kTypes[] = {DUCKDB_TYPE_INTEGER, DUCKDB_TYPE_BIGINT, DUCKDB_TYPE_DOUBLE,
                                    DUCKDB_TYPE_BOOLEAN};  // as ColumnType begins
  return type < ColumnType::kString ? kTypes[static_cast<size_t>(type)] : DUCKDB_TYPE_INVALID;
}

duckdb_logical_type EnumType(const DuckDbApi& api, const std::vector<std::string>& members) {
  std::vector<const char*> names;
  names.reserve(members.size());
  for (const std::string& member : members) names.push_back(member.c_str());
  return api.create_enum_type(names.data(), names.size());
}

// Sets the bits of the rows for which is_null(row) says so; touches no mask when there is none.
template <typename IsNull>
void MarkNulls(const DuckDbApi& api, duckdb_vector vector, size_t count, IsNull is_null) {
  uint64_t* mask = nullptr;
  for (size_t start = 0; start < count; start += kBitsPerWord) {
    uint64_t nulls = 0;
    for (size_t bit = 0; bit < std::min(kBitsPerWord, count - start); ++bit) {
      nulls |= static_cast<uint64_t>(is_null(start + bit)) << bit;
    }
    if (nulls == 0) continue;
    if (mask == nullptr) {
      api.vector_ensure_validity_writable(vector);
      mask = api.vector_get_validity(vector);
    }
    mask[start / kBitsPerWord] &= ~nulls;
  }
}

template <typename T, typename IsNull>
void FillNumbers(const Scan& scan, const Scan::Column& column, duckdb_vector vector, size_t count,
                 IsNull is_null) {
  T* values = static_cast<T*>(scan.api->vector_get_data(vector));
  scan.table->Copy(column.index, scan.next, count, values);
  MarkNulls(*scan.api, vector, count, [&](size_t row) { return is_null(values[row]); });
}

template <typename Code>
void FillCodes(const Scan& scan, const Scan::Column& column, duckdb_vector vector, size_t count) {
  auto* codes = static_cast<Code*>(scan.api->vector_get_data(vector));
  for (size_t row = 0; row < count; ++row) {
    uint32_t id = scan.ids[row];
    codes[row] = id == 0 ? Code{0} : static_cast<Code>(column.text->CodeOf(id));
  }
}

void FillPlainText(const Scan& scan, const Scan::Column& column, duckdb_vector vector,
                   size_t count) {
  std::string text;
  for (size_t row = 0; row < count; ++row) {
    uint32_t id = scan.ids[row];
    if (id == 0) continue;
    text.clear();
    column.text->AppendText(id, text);
    scan.api->vector_assign_string_element_len(vector, row, text.data(), text.size());
  }
}

void FillText(Scan& scan, const Scan::Column& column, duckdb_vector vector, size_t count) {
  scan.ids.resize(count);
  scan.table->Copy(column.index, scan.next, count, scan.ids.data());
  switch (column.code_type) {
    case DUCKDB_TYPE_UTINYINT:
      FillCodes<uint8_t>(scan, column, vector, count);
      break;
    case DUCKDB_TYPE_USMALLINT:
      FillCodes<uint16_t>(scan, column, vector, count);
      break;
    case DUCKDB_TYPE_UINTEGER:
      FillCodes<uint32_t>(scan, column, vector, count);
      break;
    default:
      FillPlainText(scan, column, vector, count);
  }
  MarkNulls(*scan.api, vector, count, [&](size_t row) { return scan.ids[row] == 0; });
}

void FillColumn(Scan& scan, const Scan::Column& column, duckdb_vector vector, size_t count) {
  auto never = [](uint8_t) { return false; };
  auto no_int32 = [](int32_t value) { return value == kNone32; };
  auto no_int64 = [](int64_t value) { return value == kNone64; };
  auto no_double = [](double value) { return std::isnan(value); };
  switch (column.info->type) {
    case ColumnType::kInt32:
      return FillNumbers<int32_t>(scan, column, vector, count, no_int32);
    case ColumnType::kInt64:
      return FillNumbers<int64_t>(scan, column, vector, count, no_int64);
    case ColumnType::kDouble:
      return FillNumbers<double>(scan, column, vector, count, no_double);
    case ColumnType::kBool:
      return FillNumbers<uint8_t>(scan, column, vector, count, never);
    default:
      return FillText(scan, column, vector, count);
  }
}

// DuckDB's three calls: what are the columns, start, the next chunk.

void BindRows(duckdb_bind_info info) {
  const DuckDbApi& api = *LoadDuckDb().value();
  const auto* scan = *static_cast<Scan**>(api.bind_get_extra_info(info));
  for (const Scan::Column& column : scan->columns) {
    api.bind_add_result_column(info, std::string(column.info->name).c_str(), column.type);
  }
  api.bind_set_cardinality(info, scan->rows, true);
}

void StartRows(duckdb_init_info info) {
  const DuckDbApi& api = *LoadDuckDb().value();
  (*static_cast<Scan**>(api.init_get_extra_info(info)))->next = 0;
  api.init_set_max_threads(info, 1);  // rows in order
}

void NextRows(duckdb_function_info info, duckdb_data_chunk chunk) {
  const DuckDbApi& api = *LoadDuckDb().value();
  Scan& scan = **static_cast<Scan**>(api.function_get_extra_info(info));
  size_t count = std::min<size_t>(api.vector_size(), scan.rows - scan.next);
  for (size_t i = 0; i < scan.columns.size() && count > 0; ++i) {
    FillColumn(scan, scan.columns[i], api.data_chunk_get_vector(chunk, i), count);
  }
  api.data_chunk_set_size(chunk, count);
  scan.next += count;
}

std::string DecodedColumns(const TableInfo& info) {
  std::string columns;
  for (const ColumnInfo& column : info.columns)
    columns += fmt::format("{}{}", columns.empty() ? "" : ", ",
                           DecodeExpression(column.type, QuoteName(column.name)));
  return columns;
}

std::string EmptyColumns(const TableInfo& info) {
  std::string columns;
  for (const ColumnInfo& column : info.columns)
    columns += fmt::format("{}NULL::{} AS {}", columns.empty() ? "" : ", ",
                           SqlTypeName(column.type), QuoteName(column.name));
  return columns;
}

// The statements that make the view of a table; of one without rows it needs no table behind it.
std::string ViewSql(const TableInfo& info, bool has_rows) {
  const std::string columns = has_rows ? DecodedColumns(info) : EmptyColumns(info);
  const std::string name = QuoteName(info.name);
  return fmt::format("CREATE VIEW main.{0} AS SELECT {1} {2}; COMMENT ON VIEW main.{0} IS {3};\n",
                     name, columns, has_rows ? "FROM stored." + name : "WHERE false",
                     QuoteText(info.doc));
}

class Writer {
 public:
  Writer(const Part& part, Database& database)
      : part_(part), database_(database), api_(database.api()) {}

  Status Write(std::string_view prefix) {
    TRY(Register());
    TRY(database_.Execute("CREATE SCHEMA stored"));
    std::string views;
    for (TableId id = 0; id < AllTables().size(); ++id) {
      const TableInfo& info = *AllTables()[id];
      if (!info.name.starts_with(prefix)) continue;
      const Table* table = part_.tables.Find(id);
      const bool has_rows = table != nullptr && table->size() > 0;
      if (has_rows) TRY(StoreRows(*table));
      views += ViewSql(info, has_rows);
    }
    return database_.Execute(views);
  }

  Status WriteFiles(const std::string& folder) {
    TRY(Register());
    for (TableId id = 0; id < AllTables().size(); ++id) {
      const Table* table = part_.tables.Find(id);
      if (table != nullptr && table->size() > 0) TRY(CopyRows(*table, folder));
    }
    return {};
  }

 private:
  Status Register() {
    duckdb_table_function function = api_.create_table_function();
    api_.table_function_set_name(function, "debrief_rows");
    api_.table_function_set_extra_info(function, static_cast<void*>(&scan_), nullptr);
    api_.table_function_set_bind(function, BindRows);
    api_.table_function_set_init(function, StartRows);
    api_.table_function_set_function(function, NextRows);
    bool registered =
        api_.register_table_function(database_.connection(), function) == DuckDBSuccess;
    api_.destroy_table_function(&function);
    if (!registered) return Status(Code::kUnsupported, "DuckDB does not take our table function");
    return {};
  }

  void Plan(const Table& table, Scan& scan) const {
    scan.api = &api_;
    scan.table = &table;
    scan.rows = table.size();
    const TableInfo& info = table.info();
    for (size_t i = 0; i < info.columns.size(); ++i) {
      Scan::Column column{&info.columns[i], i, {}};
      if (duckdb_type number = NumberType(column.info->type); number != DUCKDB_TYPE_INVALID) {
        column.type = api_.create_logical_type(number);
      } else {
        std::vector<uint32_t> ids(scan.rows);
        table.Copy(i, 0, scan.rows, ids.data());
        column.text.emplace(part_.pools, column.info->type, ids);
        column.type = column.text->coded() ? EnumType(api_, column.text->members())
                                           : api_.create_logical_type(DUCKDB_TYPE_VARCHAR);
        if (column.text->coded()) column.code_type = api_.enum_internal_type(column.type);
      }
      scan.columns.push_back(std::move(column));
    }
  }

  Status StoreRows(const Table& table) {
    return ExecuteOver(table, fmt::format("CREATE TABLE stored.{} AS SELECT * FROM debrief_rows()",
                                          QuoteName(table.info().name)));
  }

  Status CopyRows(const Table& table, const std::string& folder) {
    const std::string file = fmt::format("{}/{}.parquet", folder, table.info().name);
    return ExecuteOver(table,
                       fmt::format("COPY (SELECT {} FROM debrief_rows()) TO {} (FORMAT parquet, "
                                   "COMPRESSION zstd)",
                                   DecodedColumns(table.info()), QuoteText(file)));
  }

  // A statement in which debrief_rows() gives the rows of a table.
  Status ExecuteOver(const Table& table, const std::string& sql) {
    Scan scan;
    Plan(table, scan);
    scan_ = &scan;
    Status status = database_.Execute(sql);
    scan_ = nullptr;
    for (Scan::Column& column : scan.columns) api_.destroy_logical_type(&column.type);
    return status;
  }

  const Part& part_;
  Database& database_;
  const DuckDbApi& api_;
  // What debrief_rows() reads. DuckDB keeps the address of this member as long as the connection;
  // no statement but ours names the function, and it is not part of the file.
  Scan* scan_ = nullptr;
};

}  // namespace

Status WriteTables(const Part& part, std::string_view prefix, Database& database) {
  return Writer(part, database).Write(prefix);
}

Status WriteParquetFiles(const Part& part, const std::string& folder, Database& database) {
  return Writer(part, database).WriteFiles(folder);
}

std::string ViewOfNothing(const TableInfo& table) { return ViewSql(table, false); }

}  // namespace debrief::outputs::store
