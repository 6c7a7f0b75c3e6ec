#include "outputs/terminal/compile_summary/runnable.h"

#include <fmt/format.h>

#include "base/bytes/write_file.h"
#include "model/compile/graph.h"
#include "model/compile/payload.h"
#include "tables/compile_entry.h"
#include "torch/fx/runnable.h"

namespace debrief::outputs::compile_summary {

Result<int> WriteRunnables(const Model& model, const std::string& folder) {
  const auto& entries = model.tables.Get<CompileEntryTable>();
  int written = 0;
  std::string payload;
  for (size_t row = 0; row < entries.size(); ++row) {
    if (model.pools.Text(entries.name[row]) != "fx_graph_runnable") continue;
    TRY(ReadPayload(model, entries, row, payload));
    std::string rank =
        entries.rank[row] == kNone32 ? "" : fmt::format("rank_{}_", entries.rank[row]);
    std::string path =
        fmt::format("{}/{}graph_{}_{}.py", folder, rank, GraphDirectory(entries, row), written++);
    TRY(WriteFileAtomically(path, RunnableSource(payload)));
  }
  return written;
}

}  // namespace debrief::outputs::compile_summary
