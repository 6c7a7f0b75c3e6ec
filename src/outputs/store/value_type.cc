#include "outputs/store/value_type.h"

namespace debrief::outputs::store {

namespace {

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

bool ValueType::IsNumber() const {
  switch (id) {
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_UBIGINT:
    case DUCKDB_TYPE_UHUGEINT:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL:
      return true;
    default:
      return false;
  }
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
    case DUCKDB_TYPE_INVALID:
    case DUCKDB_TYPE_UNION:
    case DUCKDB_TYPE_BIT:
    case DUCKDB_TYPE_TIME_TZ:
    case DUCKDB_TYPE_TIME_NS:
    case DUCKDB_TYPE_ANY:
    case DUCKDB_TYPE_BIGNUM:
    case DUCKDB_TYPE_STRING_LITERAL:
    case DUCKDB_TYPE_INTEGER_LITERAL:
      return Status(Code::kUnsupported, "a column has a type that debrief does not print")
          .Remedy("Write CAST(column AS VARCHAR).");
    default:
      break;
  }
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
