// Files on disk and small inputs for the tests of inputs/.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/threads/thread_pool.h"
#include "inputs/discovery/find_inputs.h"
#include "inputs/import.h"
#include "unit/base/bytes/stream_helpers.h"

namespace debrief::testing {

inline void WriteBytes(const std::string& path, std::string_view bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

using debrief::FindImporter;

// What an importer makes of `bytes` in ranges of `chunk` bytes, as input 3 of rank 5.
inline Part ImportBytes(std::string_view importer, std::string_view bytes, uint64_t chunk) {
  ImportContext context{
      .who = {.input = 3, .job = 1, .attempt = 2, .rank = 5}, .path = "x", .chunk_bytes = chunk};
  auto reader = FindImporter(importer)->open(context);
  auto source = MakeMemorySource(std::string(bytes));
  ThreadPool pool(1);
  Part part;
  Status status = ImportSource(*reader, *source, pool, part);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return part;
}

// "name count;" of all diagnostics, with the first detail of each where that is asked for.
inline std::string TroubleOf(const Part& part, bool with_detail = false) {
  std::string text;
  for (const Diagnostic& each : part.diagnostics.all()) {
    text += fmt::format("{} {}", each.kind->name, each.count);
    if (with_detail) text += " " + each.first.at(0).detail;
    text += ";";
  }
  return text;
}

// The names of its notes, with commas.
inline std::string NotesOf(const FoundInput& input) {
  std::string notes;
  for (const auto& note : input.notes) {
    notes += (notes.empty() ? "" : ",") + std::string(note.kind->name);
  }
  return notes;
}

inline constexpr std::string_view kOpTrace =
    R"({"entries": [{"step": 0, "operation": "matmul", "duration_us": 2.5},
                    {"step": 1, "operation": "relu", "duration_us": 0.5}],
        "total_duration_us": 3.0, "metadata": {"model": "tiny"}})";

}  // namespace debrief::testing
