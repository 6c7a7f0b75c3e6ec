// Output "html": the report as index.html with its data beside it in report_data/, or inside of it.
#include <filesystem>
#include <string>

#include "base/bytes/write_file.h"
#include "outputs/output.h"
#include "outputs/report/html/page.h"

namespace debrief::outputs::html {

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
  static const Output kOutput = {
      .info = {.name = "html",
               .sentence = "the report: a page that opens offline in any browser",
               .file = "index.html"},
      .write = Write};
  return kOutput;
}

}  // namespace debrief::outputs::html
