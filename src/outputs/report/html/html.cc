// Output "html": the report as index.html with its data beside it in report_data/, or inside of it.
//
// It fills the page that web/build.mjs made and the build embedded.
//
// That page has style, script and a policy that allows these two by their hashes;
// what is left are five marks, each of them once and in this order:
//
//   {{title}}      inside <title>: the first headline
//   {{headlines}}  inside <noscript>: all of them, for a reader without scripts
//   {{data}}       inside <script type="application/json">: the run as JSON
//   {{contents}}   likewise: the id of the run, and how many rows each table has
//   {{islands}}    elements of the islands that stand in the page
//
// Text from inputs goes through AppendHtml for the first two. In the next two the JSON writer turns
// every '<' into \u003c, so that no text can end the element. The page is cut at the marks once,
// from left to right; text that is filled in is never searched for marks. Cost: one pass over the
// page, one over the run.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/bytes/growing_file.h"
#include "base/check.h"
#include "base/json/writer.h"
#include "base/text/escape.h"
#include "outputs/output.h"
#include "outputs/report/html/islands.h"
#include "outputs/run_json.h"

// web_bundle.S, made by cmake/web_bundle.cmake.
// NOLINTBEGIN(readability-identifier-naming): names of the assembler file
extern "C" {
extern const char debrief_web_page_begin[];
extern const char debrief_web_page_end[];
}
// NOLINTEND(readability-identifier-naming)

namespace debrief::outputs::html {

namespace {

std::string_view EmbeddedPage() {
  return {debrief_web_page_begin,
          static_cast<size_t>(debrief_web_page_end - debrief_web_page_begin)};
}

// Moves what stands before `mark` to `out`, and `rest` behind it.
void CopyUpTo(std::string_view mark, std::string_view& rest, std::string& out) {
  const size_t at = rest.find(mark);
  DEBRIEF_CHECK(at != std::string_view::npos);  // web/build.mjs checks that each is there once
  out += rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
}

void AppendTitle(const Model& model, std::string& out) {
  if (model.findings.empty()) {
    out += "No findings";
  } else {
    AppendHtml(out, model.findings.front().headline);
  }
  out += " - debrief";
}

void AppendHeadlines(const Model& model, std::string& out) {
  if (model.findings.empty()) {
    out += "<p>No findings.</p>";
    return;
  }
  out += "<ol>\n";
  for (const Finding& finding : model.findings) {
    out += "<li>";
    out += SeverityName(finding.severity);
    out += ": ";
    AppendHtml(out, finding.headline);
    out += "</li>\n";
  }
  out += "</ol>";
}

std::string ContentsJson(const Model& model) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject().Field("run", RunId(model)).Key("rows").BeginObject();
  const std::span<const TableInfo* const> all = AllTables();
  for (TableId id = 0; id < all.size(); ++id) {
    const Table* table = model.tables.Find(id);
    if (table != nullptr && table->size() > 0) json.Field(all[id]->name, table->size());
  }
  json.EndObject().EndObject();
  return out;
}

}  // namespace

std::string MakePage(const Model& model, const Islands& islands) {
  const std::string data = PageJson(model);
  const std::string elements = islands.Elements();
  std::string_view rest = EmbeddedPage();
  std::string out;
  out.reserve(rest.size() + data.size() + elements.size() + 8192);
  CopyUpTo("{{title}}", rest, out);
  AppendTitle(model, out);
  CopyUpTo("{{headlines}}", rest, out);
  AppendHeadlines(model, out);
  CopyUpTo("{{data}}", rest, out);
  out += data;
  CopyUpTo("{{contents}}", rest, out);
  out += ContentsJson(model);
  CopyUpTo("{{islands}}", rest, out);
  out += elements;
  out += rest;
  return out;
}

namespace {

constexpr const char* kDataFolder = "/report_data";

// Data of an earlier report must not be taken for this one's.
Status MakeDataFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::remove_all(path, error);
  if (!error) std::filesystem::create_directory(path, error);
  if (!error) return {};
  return Status(Code::kDenied, "cannot make the folder: " + error.message()).At({.file = path});
}

// The page comes last: a reader who finds it finds its data.
Status Write(const Model& model, const OutputContext& context) {
  if (context.folder.empty()) return {};
  const std::string folder = context.folder + kDataFolder;
  if (!context.single_file) TRY(MakeDataFolder(folder));
  Islands islands(context.single_file ? "" : folder);
  TRY(AddIslands(model, context.threads, islands));
  return WriteFileAtomically(context.folder + "/index.html", MakePage(model, islands));
}

}  // namespace

const Output& Describe() {
  static constexpr Output kOutput = {
      {"html", "the report: a page that opens offline in any browser", "index.html"}, Write};
  return kOutput;
}

}  // namespace debrief::outputs::html
