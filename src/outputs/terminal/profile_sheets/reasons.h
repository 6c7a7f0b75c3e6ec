// Why a table has no rows: what its analysis lacked.
#pragma once

#include <string>
#include <string_view>

#include "model/model.h"

namespace debrief::outputs::profile_sheets {

std::string WhyEmpty(const Model& model, std::string_view table);

}  // namespace debrief::outputs::profile_sheets
