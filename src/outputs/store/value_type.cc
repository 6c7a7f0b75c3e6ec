#include "outputs/store/value_type.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace debrief::outputs::store {

namespace {

struct TypeFacts {
  duckdb_type id;
  const char* name;
  bool is_number = false;
};

// All that we print, but for lists.
// clang-format off
#define DEBRIEF_NUMBER_TYPES(X)                                                          \
  X(TINYINT) X(SMALLINT) X(INTEGER) X(BIGINT) X(HUGEINT) X(UTINYINT) X(USMALLINT) X(UINTEGER) \
  X(UBIGINT) X(UHUGEINT) X(FLOAT) X(DOUBLE) X(DECIMAL)
#define DEBRIEF_OTHER_TYPES(X)                                                      \
  X(BOOLEAN) X(VARCHAR) X(ENUM) X(BLOB) X(DATE) X(TIME) X(TIMESTAMP) X(TIMESTAMP_S) \
  X(TIMESTAMP_MS) X(TIMESTAMP_NS) X(INTERVAL) X(UUID) X(STRUCT) X(MAP)
#define DEBRIEF_NUMBER(name) {DUCKDB_TYPE_##name, #name, true},
#define DEBRIEF_OTHER(name) {DUCKDB_TYPE_##name, #name},
constexpr TypeFacts kTypes[] = {
    DEBRIEF_NUMBER_TYPES(DEBRIEF_NUMBER) DEBRIEF_OTHER_TYPES(DEBRIEF_OTHER)
    {DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE"}, {DUCKDB_TYPE_SQLNULL, "NULL"}};
// clang-format on

const TypeFacts* FindType(duckdb_type id) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                   [&](const TypeFacts& one) { return one.id == id; });
  return found == std::end(kTypes) ? nullptr : found;
}

std::string TakeText(const DuckDbApi& api, char* text) {
  std::string taken = text == nullptr ? "" : text;
  api.free(text);
  return taken;
}

Status AddChild(const DuckDbApi& api, duckdb_logical_type child, ValueType& parent) {
  LogicalType owned(api, child);
  ASSIGN_OR_RETURN(ValueType type, ReadType(api, owned.handle));
  parent.children.push_back(std::move(type));
  return {};
}

Status ReadStruct(const DuckDbApi& api, duckdb_logical_type type, ValueType& read) {
  for (idx_t i = 0; i < api.struct_type_child_count(type); ++i) {
    read.names.push_back(TakeText(api, api.struct_type_child_name(type, i)));
    TRY(AddChild(api, api.struct_type_child_type(type, i), read));
  }
  return {};
}

void ReadEnum(const DuckDbApi& api, duckdb_logical_type type, ValueType& read) {
  read.storage = api.enum_internal_type(type);
  for (idx_t i = 0; i < api.enum_dictionary_size(type); ++i) {
    read.names.push_back(TakeText(api, api.enum_dictionary_value(type, i)));
  }
}

}  // namespace

std::string SqlName(const ValueType& type) {
  if (type.id == DUCKDB_TYPE_LIST) return SqlName(type.children[0]) + "[]";
  if (type.id == DUCKDB_TYPE_ARRAY)
    return fmt::format("{}[{}]", SqlName(type.children[0]), type.array_size);
  return FindType(type.id)->name;
}

Result<ValueType> ReadType(const DuckDbApi& api, duckdb_logical_type type) {
  ValueType read;
  read.id = api.get_type_id(type);
  switch (read.id) {
    case DUCKDB_TYPE_ENUM:
      ReadEnum(api, type, read);
      break;
    case DUCKDB_TYPE_DECIMAL:
      read.storage = api.decimal_internal_type(type);
      read.scale = api.decimal_scale(type);
      break;
    case DUCKDB_TYPE_LIST:
      TRY(AddChild(api, api.list_type_child_type(type), read));
      break;
    case DUCKDB_TYPE_ARRAY:
      read.array_size = api.array_type_array_size(type);
      TRY(AddChild(api, api.array_type_child_type(type), read));
      break;
    case DUCKDB_TYPE_STRUCT:
      TRY(ReadStruct(api, type, read));
      break;
    case DUCKDB_TYPE_MAP: {
      ValueType entry;  // a map is a list of these
      entry.id = DUCKDB_TYPE_STRUCT;
      entry.names = {"key", "value"};
      TRY(AddChild(api, api.map_type_key_type(type), entry));
      TRY(AddChild(api, api.map_type_value_type(type), entry));
      read.children.push_back(std::move(entry));
      break;
    }
    default:
      if (FindType(read.id) == nullptr)
        return Status(Code::kUnsupported, "a column has a type that debrief does not print")
            .Remedy("Write CAST(column AS VARCHAR).");
  }
  const TypeFacts* facts = FindType(read.id);
  read.is_number = facts != nullptr && facts->is_number;
  return read;
}

VectorView::VectorView(const DuckDbApi& api, const ValueType& value_type, duckdb_vector vector)
    : type(&value_type),
      data(api.vector_get_data(vector)),
      validity(api.vector_get_validity(vector)) {
  for (size_t i = 0; i < value_type.children.size(); ++i) {
    duckdb_vector child = value_type.id == DUCKDB_TYPE_STRUCT
                              ? api.struct_vector_get_child(vector, i)
                          : value_type.id == DUCKDB_TYPE_ARRAY ? api.array_vector_get_child(vector)
                                                               : api.list_vector_get_child(vector);
    children.emplace_back(api, value_type.children[i], child);
  }
}

}  // namespace debrief::outputs::store
