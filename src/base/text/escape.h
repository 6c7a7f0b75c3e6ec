// Text of inputs on its way into HTML, JSON, CSV and Markdown.
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
// Likewise with them.
void AppendJsonString(std::string& out, std::string_view text);

// One field of RFC 4180: quoted when it holds a comma, a quote or a line end. One that a
// spreadsheet would compute gets an apostrophe in front (CsvGuard).
void AppendCsv(std::string& out, std::string_view text);

// "'" before a text that begins as a formula does (= + - @, tab, carriage return) and is no number;
// else "". Every CSV file has its texts from inputs behind it.
std::string_view CsvGuard(std::string_view text);

// Running text of Markdown (CommonMark and what GitHub and GitLab add): nothing in it is markup, an
// HTML element, an entity, a link, a mention of a person (@name) or of a ticket (#1). One line:
// line ends become blanks, other control characters U+FFFD. An underscore inside a word is no
// markup and stays readable.
void AppendMarkdown(std::string& out, std::string_view text);

// `text` as a code span, in as many backticks as it needs. A `|` is fit for a table's cell.
void AppendMarkdownCode(std::string& out, std::string_view text);

// A copy with every invalid sequence replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);

}  // namespace debrief
