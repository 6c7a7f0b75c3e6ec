// chromium_events.json: all trace events of a tree, or of all ranks, as one pretty JSON array.
#pragma once

#include <span>

#include "base/threads/thread_pool.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {

// Events in the order of the log, keys sorted; payloads that are no JSON are left out.
Status WriteEvents(const Model& model, const TreePlan& plan, ThreadPool& pool, FileSink& sink);

// Those of all ranks, one rank after the other, each event with its rank as `pid`. `plans` are in
// order of rank. Writes nothing when there is no event.
Status WriteAllEvents(const Model& model, std::span<const TreePlan> plans, ThreadPool& pool,
                      FileSink& sink);

}  // namespace debrief::outputs::tlparse_tree
