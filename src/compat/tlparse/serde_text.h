// Values as Rust's serde_json prints them.
#pragma once

#include <string>
#include <string_view>

namespace debrief::outputs::tlparse_tree {

// With quotes. Escaped: quotes, backslashes and control characters, nothing else.
std::string SerdeString(std::string_view text);

// The shortest digits that read back the same: 1.0, 0.1, 1e16, 1e-7. Null for what is no number.
std::string SerdeDouble(double number);

}  // namespace debrief::outputs::tlparse_tree
