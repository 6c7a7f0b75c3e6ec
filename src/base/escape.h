// Text of inputs on its way into HTML, JSON and CSV.
//
// Every function takes any bytes and appends valid UTF-8 (AppendCsv excepted: it keeps bytes as
// they are). Runs without special bytes are appended at once.
#pragma once

#include <string>
#include <string_view>

namespace debrief {

// For element content and quoted attribute values: & < > " ' become references. Control characters
// (other than tab, line feed, carriage return) have no form in HTML at all and become U+FFFD.
void AppendHtml(std::string& out, std::string_view text);

// The contents of a JSON string, without the quotes. `<`, U+2028 and U+2029 are escaped as well, so
// that the JSON may stand inside a <script> element.
void AppendJson(std::string& out, std::string_view text);

// One field of RFC 4180: quoted when it holds a comma, a quote or a line end.
void AppendCsv(std::string& out, std::string_view text);

// A copy with every invalid sequence replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);

}  // namespace debrief
