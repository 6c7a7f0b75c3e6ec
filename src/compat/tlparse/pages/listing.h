// One line of the listing of a compilation, on the index and on its metrics pages.
#pragma once

#include <string>
#include <string_view>

#include "compat/tlparse/pages/context.h"

namespace debrief::outputs::tlparse_tree {

// <a href="url">path</a> (<a href="...">readable_html</a>) suffix (number)
// On a page in the folder of the compilation (`root` is not empty) the path is the name alone.
void AppendListed(const PageContext& context, const ListedFile& file, std::string_view root,
                  std::string& out);

}  // namespace debrief::outputs::tlparse_tree
