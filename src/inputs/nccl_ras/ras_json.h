// The JSON that `ncclras -f json` prints: every communicator with all of its ranks.
#pragma once

#include <string_view>

#include "base/status.h"
#include "inputs/nccl_ras/answer.h"

namespace debrief::inputs::nccl_ras {

// NCCL 2.28.7 to 2.28.9 leave out a comma where a rank is missing; it is put in.
Result<RasAnswer> ReadRasJson(std::string_view text);

}  // namespace debrief::inputs::nccl_ras
