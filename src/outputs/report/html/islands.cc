#include "outputs/report/html/islands.h"

#include <algorithm>
#include <filesystem>

#include "base/bytes/gzip.h"
#include "base/bytes/write_file.h"
#include "base/check.h"
#include "base/threads/thread_pool.h"
#include "outputs/report/html/comm_data.h"
#include "outputs/report/html/compile_data.h"
#include "outputs/report/html/cost_data.h"
#include "outputs/report/html/export_data.h"
#include "outputs/report/html/flight_data.h"
#include "outputs/report/html/lane_data.h"
#include "outputs/report/html/profile_data.h"
#include "outputs/report/html/rank_data.h"
#include "outputs/report/html/source_data.h"
#include "outputs/report/html/speedscope.h"
#include "outputs/report/html/stack_data.h"
#include "outputs/report/html/text_data.h"
#include "outputs/report/html/timeline_data.h"

namespace debrief::outputs::html {

namespace {

// What a folder of views reads is one maker; it adds nothing when the model has nothing for it.
using Maker = Status (*)(const Model& model, Islands& islands);
constexpr Maker kMakers[] = {AddCompile, AddFlight, AddProfile, AddFlames, AddTexts,  AddStacks,
                             AddLanes,   AddSource, AddComm,    AddRanks,  AddExport, AddCost};

bool IsName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/';
  });
}

Status WriteScript(const std::string& folder, std::string_view name, std::string_view packed) {
  const std::string path = folder + "/" + std::string(name) + ".js";
  std::error_code error;  // what went wrong shows when the file is written
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
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
  ThreadPool pool(std::max(1, threads));
  Status first_error;
  pool.MapInOrder<Status>(
      std::size(kMakers), [&](size_t i) { return kMakers[i](model, islands); },
      [&](size_t, Status&& status) {
        if (first_error.ok()) first_error = std::move(status);
      });
  TRY(std::move(first_error));
  return AddTimeline(model, pool, islands);
}

}  // namespace debrief::outputs::html
