// Names that inputs chose, made harmless.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// A file name for `name`: only [A-Za-z0-9._-], other bytes become '_'. It is never empty, never
// begins with '.' or '-', never ends with '.', is never a device name of Windows ("con",
// "lpt1.txt") and has at most 120 bytes. Longer names are cut and end with a hash of the whole, so
// that they stay different. Two short names may still collide ("a b", "a_b"): who writes many files
// must check.
std::string SafeName(std::string_view name);

// `text` as it may be shown on a terminal: control characters, the ESC of escape sequences among
// them, as \xNN; so are the C1 controls (U+0080 to U+009F) and the marks that reorder text (U+202A
// to U+202E, U+2066 to U+2069); invalid UTF-8 as U+FFFD.
std::string Printable(std::string_view text);

// What everything that is printed passes last: line ends and tabs stay, what Printable() would
// replace becomes \uNNNN, which also JSON understands. `keep_colours`: so do the sequences that
// choose a colour, where the text has some of ours.
std::string PrintableLines(std::string_view text, bool keep_colours);

}  // namespace debrief
