#include "model/compile/graph.h"

#include <fmt/format.h>

#include "base/pools/ids.h"
#include "tables/compile_entry.h"

namespace debrief {

std::string GraphDirectory(const CompileEntryTable& entries, size_t row) {
  if (entries.compile_id[row] == StringId::kNone)
    return fmt::format("unknown_{}", entries.line[row]);
  auto part = [](int64_t id) { return id == kNone64 ? std::string("-") : fmt::format("{}", id); };
  return fmt::format("{}_{}_{}_{}", part(entries.autograd_id[row]), part(entries.frame_id[row]),
                     part(entries.frame_compile_id[row]), part(entries.compile_attempt[row]));
}

}  // namespace debrief
