// Names in the tree: directories of compilations, numbered files, and names that a log chose.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tables/compile_entry.h"

namespace debrief::outputs::tlparse_tree {

// The directory of a compilation in the listing (GraphDirectory of its entries): an id whose
// attempt is absent stands for attempt 0, a broken one for "unknown".
std::string ListedDirectory(const CompileEntryTable& entries, size_t row);

// "[0/0]": as people read it.
std::string DisplayId(std::string_view compile_id);

// "graph.txt" and 7 make "graph_7.txt"; the number goes before the last dot.
std::string Numbered(std::string_view name, int32_t number);

// A path that a log names, made to stay inside the folder it is put into: no "..", no root, no
// control characters, no part that a file system refuses for its length. A harmless one is kept as
// it is.
std::string InsidePath(std::string_view name);

// The last part of a path, and that without its extension.
std::string_view LastPart(std::string_view path);
std::string_view StemOf(std::string_view path);

}  // namespace debrief::outputs::tlparse_tree
