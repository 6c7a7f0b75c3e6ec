// The SQL name of a result's type ("BIGINT", "VARCHAR[]"), for people; the C API does not tell it.
#pragma once

#include <string>

#include "outputs/store/value_type.h"

namespace debrief::serve {

std::string ColumnTypeName(const outputs::store::ValueType& type);

}  // namespace debrief::serve
