// raw.log, raw.jsonl and compile_directory.json: the log again, whole and as data.
#pragma once

#include <string>

#include "base/threads/thread_pool.h"
#include "compat/tlparse/file_sink.h"
#include "compat/tlparse/plan.h"

namespace debrief::outputs::tlparse_tree {

// A copy of the log, byte for byte.
Status WriteRawLog(const Model& model, const TreePlan& plan, FileSink& sink);

// {"string_table":[...]}, then an entry a line: its JSON with sorted keys, and what the prefix
// tells (lineno, pathname, thread, timestamp) and payload_filename. Counts what cannot be written
// in `stats` and says so in `messages`.
Status WriteRawLines(const Model& model, TreePlan& plan, ThreadPool& pool, FileSink& sink);

// {"[0/0]": {"artifacts": [{"name": ..., "number": ..., "url": ...}]}}, ids sorted as text.
std::string DirectoryJson(const TreePlan& plan);

}  // namespace debrief::outputs::tlparse_tree
