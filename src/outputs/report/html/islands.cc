#include "outputs/report/html/islands.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/bytes/gzip.h"
#include "base/check.h"
#include "base/text/strings.h"
#include "base/threads/thread_pool.h"
#include "outputs/report/html/collectives/collectives.h"
#include "outputs/report/html/compile/compile_islands.h"
#include "outputs/report/html/compile/texts.h"
#include "outputs/report/html/flames/speedscope.h"
#include "outputs/report/html/source/source_lines.h"
#include "outputs/report/html/story.h"
#include "outputs/report/html/table_islands.h"
#include "outputs/report/html/timeline/timeline.h"

namespace debrief::outputs::html {

namespace {

// Islands that are one text of JSON; empty when the model has nothing for them.
struct JsonIsland {
  std::string_view name;
  std::string (*json)(const Model& model);
};
constexpr JsonIsland kJsonIslands[] = {
    {"source", SourceJson}, {"stacks", StacksJson}, {"lanes", LanesJson}, {"export", ExportJson}};

// Several islands that are made together.
using Maker = Status (*)(const Model& model, Islands& islands);
constexpr Maker kMakers[] = {AddStory, AddCollectiveIslands, AddTexts, AddFlames};

bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return IsLower(c) || IsDigit(c) || c == '_' || c == '/';
  });
}

Status WriteScript(const std::string& folder, std::string_view name, std::string_view packed) {
  const std::string path = folder + "/" + std::string(name) + ".js";
  // One by one below `folder`, which is not made anew: an interrupted run has removed it for good.
  // What went wrong shows when the file is written.
  std::error_code error;
  for (size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1))
    std::filesystem::create_directory(folder + "/" + std::string(name.substr(0, slash)), error);
  std::string text;
  text.reserve(packed.size() * 4 / 3 + name.size() + 64);
  text.append("debriefIsland(\"").append(name).append("\",\"");
  AppendBase64(text, packed);
  text += "\")\n";
  return WriteFileAtomically(path, text);
}

}  // namespace

Status Islands::Add(std::string_view name, std::string_view bytes) {
  DEBRIEF_CHECK(IsName(name));
  const std::string packed = Gzip(bytes);
  if (!in_page()) return WriteScript(folder_, name, packed);
  std::string text;
  AppendBase64(text, packed);
  const std::lock_guard lock(mutex_);
  kept_.emplace(name, std::move(text));
  return {};
}

std::string Islands::Elements() const {
  std::string out;
  for (const auto& [name, text] : kept_) {
    out.append("<script type=\"text/plain\" data-island=\"").append(name).append("\">");
    out.append(text).append("</script>\n");
  }
  return out;
}

Status AddIslands(const Model& model, int threads, Islands& islands) {
  const auto add = [&](std::string_view name, const std::string& json) {
    return json.empty() ? Status() : islands.Add(name, json);
  };
  std::vector<std::function<Status()>> jobs;
  for (const TableIsland& one : TableIslands())
    jobs.emplace_back([&] { return add(one.name, TablesJson(model, one)); });
  for (Maker maker : kMakers) jobs.emplace_back([&, maker] { return maker(model, islands); });
  for (const JsonIsland& one : kJsonIslands)
    jobs.emplace_back([&] { return add(one.name, one.json(model)); });
  ThreadPool pool(std::max(1, threads));
  Status first_error;
  pool.MapInOrder<Status>(
      jobs.size(), [&](size_t i) { return jobs[i](); },
      [&](size_t, Status&& status) {
        if (first_error.ok()) first_error = std::move(status);
      });
  TRY(std::move(first_error));
  return AddTimeline(model, pool, islands);
}

}  // namespace debrief::outputs::html
