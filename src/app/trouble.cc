#include "app/trouble.h"

#include <fmt/format.h>

#include <cstdio>

#include "tables/input.h"

namespace debrief {

namespace {

std::string_view PathOf(const Model& model, int32_t input) {
  if (input == kNone32) return "(all)";
  return model.pools.Text(model.tables.Get<InputTable>().path[static_cast<size_t>(input)]);
}

}  // namespace

void PrintTrouble(const Model& model) {
  for (const Diagnostic& each : model.diagnostics.all()) {
    if (each.kind->severity == Severity::kInfo) continue;
    fmt::print(stderr, "debrief: {}: {}: {} ({} times, first at byte {}). {}\n",
               SeverityName(each.kind->severity), PathOf(model, each.input), each.kind->meaning,
               each.count, each.first.empty() ? -1 : each.first[0].offset, each.kind->remedy);
  }
}

}  // namespace debrief
