// The tree of stacks (tables compile_trie_node and compile_trie_end) as nested lists.
#pragma once

#include <string>
#include <string_view>

#include "compat/tlparse/pages/context.h"

namespace debrief::outputs::tlparse_tree {

// Appends the trie ("starts" or "entries") of the tree's entries; false when there is none. Where a
// frame has one callee, that follows on the same level: only branches indent.
bool AppendTrie(const PageContext& context, std::string_view trie, std::string& out);

// How a compilation ended, as a mark with its id: class and sign tell it.
void AppendMark(std::string_view status, std::string_view id, bool link, std::string& out);

}  // namespace debrief::outputs::tlparse_tree
