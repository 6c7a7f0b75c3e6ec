// Names in the tree: directories of compilations, numbered files, and names that a log chose.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace debrief::outputs::tlparse_tree {

// "[0/0]": as people read it.
std::string DisplayId(std::string_view compile_id);

// "graph.txt" and 7 make "graph_7.txt"; the number goes before the last dot.
std::string Numbered(std::string_view name, int32_t number);

// A path that a log names, made to stay inside the folder it is put into: no "..", no root, no
// control characters, no part that a file system refuses for its length. A harmless one is kept as
// it is.
std::string InsidePath(std::string_view name);

// "dump_file/eval_with_key_3.html", the page of a dumped file that is named "<eval_with_key>.3";
// empty for any other name.
std::string DumpPath(std::string_view name);

// The last part of a path without its extension.
std::string_view StemOf(std::string_view path);

}  // namespace debrief::outputs::tlparse_tree
