// Writes speedscope and its profiles beside the page.
//
// Profiles are packed as gzip inside of the base64: speedscope unpacks them. Cost: one pass over
// the slices of at most 16 timelines, and one file of at most 2 MB, packed, for each.
#include "outputs/report/html/flames/speedscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/bytes/growing_file.h"
#include "base/bytes/gzip.h"
#include "base/json/writer.h"
#include "base/pools/numbering.h"
#include "outputs/compile_stacks.h"
#include "outputs/speedscope_json.h"
#include "outputs/timeline_merge.h"
#include "tables/compile_span.h"

// web_bundle.S, made by cmake/web_bundle.cmake.
#define DEBRIEF_SPEEDSCOPE_FILE(name)                    \
  extern const char debrief_speedscope_##name##_begin[]; \
  extern const char debrief_speedscope_##name##_end[]
extern "C" {
DEBRIEF_SPEEDSCOPE_FILE(page);
DEBRIEF_SPEEDSCOPE_FILE(style);
DEBRIEF_SPEEDSCOPE_FILE(script);
DEBRIEF_SPEEDSCOPE_FILE(font);
DEBRIEF_SPEEDSCOPE_FILE(license);
DEBRIEF_SPEEDSCOPE_FILE(font_license);
}
#undef DEBRIEF_SPEEDSCOPE_FILE

namespace debrief::outputs::html {

namespace {

constexpr size_t kMostTimelines = 16;
constexpr size_t kMostBytes = 2'000'000;  // of a profile's JSON
constexpr size_t kMostCompilations = 20'000;
constexpr size_t kMostUnpacked = 16 * 1000 * 1000;  // of a file of speedscope

struct EmbeddedFile {
  const char* name;
  const char* begin;
  const char* end;
};

const EmbeddedFile kFiles[] = {
    {"index.html", debrief_speedscope_page_begin, debrief_speedscope_page_end},
    {"speedscope.css", debrief_speedscope_style_begin, debrief_speedscope_style_end},
    {"speedscope.js", debrief_speedscope_script_begin, debrief_speedscope_script_end},
    {"font.woff2", debrief_speedscope_font_begin, debrief_speedscope_font_end},
    {"LICENSE", debrief_speedscope_license_begin, debrief_speedscope_license_end},
    {"font_license.md", debrief_speedscope_font_license_begin, debrief_speedscope_font_license_end},
};

Status WriteViewer(const std::string& folder) {
  std::error_code error;  // what went wrong shows when a file is written
  std::filesystem::create_directory(folder, error);
  for (const EmbeddedFile& file : kFiles) {
    const std::string_view packed(file.begin, static_cast<size_t>(file.end - file.begin));
    ASSIGN_OR_RETURN(const std::string content, InflateZlib(packed, kMostUnpacked));
    TRY(WriteFileAtomically(folder + "/" + file.name, content));
  }
  return {};
}

// `name` is of our making: nothing in it needs escaping.
Status WriteFlame(const std::string& folder, std::string_view name, std::string_view json) {
  std::string text = fmt::format("speedscope.loadFileFromBase64(\"{}.json.gz\",\"", name);
  AppendBase64(text, Gzip(json));
  text += "\")\n";
  return WriteFileAtomically(fmt::format("{}/{}.js", folder, name), text);
}

// Timelines of ranks that findings name come first, then those of low ranks.
std::vector<timeline::TimelineView> ShownTimelines(const Model& model) {
  std::set<int64_t> named;
  for (const Finding& finding : model.findings)
    named.insert(finding.ranks.begin(), finding.ranks.end());
  std::vector<timeline::TimelineView> all = timeline::Timelines(model);
  std::vector<size_t> order(all.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto key = [&](size_t i) {
      return std::pair(!named.contains(all[i].who.rank), all[i].who.rank);
    };
    return key(a) < key(b);
  });
  if (order.size() > kMostTimelines) order.resize(kMostTimelines);
  std::sort(order.begin(), order.end());
  std::vector<timeline::TimelineView> shown;
  for (size_t i : order) shown.push_back(all[i]);
  return shown;
}

void KeepLongest(std::vector<Sample>& samples) {
  if (samples.size() <= kMostCompilations) return;
  std::stable_sort(samples.begin(), samples.end(),
                   [](const Sample& a, const Sample& b) { return a.seconds > b.seconds; });
  samples.resize(kMostCompilations);
}

class FlameList {
 public:
  FlameList(const Model& model, Islands& islands)
      : model_(model), folder_(islands.folder() + "/speedscope"), json_(&text_) {
    json_.BeginObject().Field("beside", !islands.in_page());
    json_.Field("timelines", timeline::Timelines(model).size()).Key("profiles").BeginArray();
  }

  Status AddTimeline(const timeline::TimelineView& view) {
    StackTree tree(model_.pools);
    tree.Add(view, "", Frames::kAll);
    const FlameText flame = TimelineFlame(tree, RankName(view.who), kMostBytes);
    if (flame.total_ns == 0) return {};
    const std::string name = fmt::format("timeline_{}", view.who.input);
    json_.BeginObject().Field("name", name).Field("what", "timeline");
    json_.Field("job", view.who.job).Field("input", view.who.input);
    if (view.who.rank != kNone32) json_.Field("rank", view.who.rank);
    json_.Field("total_ns", flame.total_ns).Field("left_out_ns", flame.left_out_ns).EndObject();
    return WriteOne(name, flame.json);
  }

  // Compilations of all ranks are one file: they are few.
  Status AddCompilations(std::vector<Sample> samples) {
    if (samples.empty()) return {};
    json_.BeginObject().Field("name", "compile").Field("what", "compile");
    json_.Field("compilations", samples.size());
    KeepLongest(samples);
    json_.Field("shown", samples.size()).EndObject();
    return WriteOne("compile", Speedscope(model_, samples));
  }

  Status Finish(Islands& islands) {
    json_.EndArray().EndObject();
    if (any_) TRY(WriteViewer(folder_));
    return islands.Add("flames", text_);
  }

 private:
  Status WriteOne(std::string_view name, std::string_view json) {
    if (!any_) {
      std::error_code error;
      std::filesystem::create_directory(folder_, error);
    }
    any_ = true;
    return WriteFlame(folder_, name, json);
  }

  const Model& model_;
  const std::string folder_;
  std::string text_;
  JsonWriter json_;
  bool any_ = false;
};

}  // namespace

Status AddFlames(const Model& model, Islands& islands) {
  const std::vector<timeline::TimelineView> shown = ShownTimelines(model);
  if (shown.empty() && model.tables.Get<CompileSpanTable>().size() == 0) return {};
  FlameList list(model, islands);
  if (!islands.in_page()) {
    for (const timeline::TimelineView& view : shown) TRY(list.AddTimeline(view));
    TRY(list.AddCompilations(MakeSamples(model)));
  }
  return list.Finish(islands);
}

// A tree of stacks as speedscope's JSON (outputs/speedscope_json.h): the weight of a stack is the
// time that it took itself.
// Cost: one sort of the stacks, then one step for each frame of those that are taken.

namespace {

constexpr size_t kBytesOfNumber = 6;  // in a sample, with its comma; weights have more digits
constexpr size_t kBytesOfWeight = 14;
constexpr size_t kBytesOfFrame = 12;  // {"name":""}

class FlameWriter {
 public:
  FlameWriter(const StackTree& tree, size_t most_bytes)
      : nodes_(tree.nodes()), root_(nodes_.size()), depth_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto parent = static_cast<size_t>(nodes_[i].parent);
      root_[i] = nodes_[i].parent < 0 ? i : root_[parent];
      depth_[i] = nodes_[i].parent < 0 ? 0 : depth_[parent] + 1;
    }
    Choose(most_bytes);
  }

  FlameText Write(std::string_view title) {
    JsonWriter json(&text_.json);
    const auto roots = OfRoots();
    json.BeginObject();
    WriteSpeedscopeHead(title, json);
    json.Field("activeProfileIndex", Richest(roots));
    json.Array("profiles", roots, [&](const auto& root) {
      WriteSpeedscopeProfile(
          {nodes_[root.first].name, "nanoseconds"}, TimeOf(root.second), root.second,
          [&](size_t node) { return FramesOf(node); },
          [&](size_t node) { return nodes_[node].self_ns; }, json);
    });
    json.Key("shared").BeginObject();
    json.Objects("frames", frames_.all(), [&](std::string_view name) { json.Field("name", name); });
    json.EndObject().EndObject();
    return std::move(text_);
  }

 private:
  using Stacks = std::vector<size_t>;

  // The stacks with most time, as many as there is room for.
  void Choose(size_t most_bytes) {
    std::vector<size_t> order(nodes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::erase_if(order, [&](size_t i) { return nodes_[i].self_ns <= 0 || depth_[i] == 0; });
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return nodes_[a].self_ns > nodes_[b].self_ns; });
    size_t bytes = 0;
    for (size_t i : order) {
      text_.total_ns += nodes_[i].self_ns;
      bytes += kBytesOfWeight + depth_[i] * kBytesOfNumber + nodes_[i].name.size() + kBytesOfFrame;
      if (bytes > most_bytes) {
        text_.left_out_ns += nodes_[i].self_ns;
      } else {
        taken_.push_back(i);
      }
    }
    std::sort(taken_.begin(), taken_.end());
  }

  // Threads and streams with their stacks, in the order of first sight.
  std::vector<std::pair<size_t, Stacks>> OfRoots() const {
    std::vector<std::pair<size_t, Stacks>> all;
    std::unordered_map<size_t, size_t> place;
    for (size_t i : taken_) {
      const auto [at, is_new] = place.try_emplace(root_[i], all.size());
      if (is_new) all.emplace_back(root_[i], Stacks());
      all[at->second].second.push_back(i);
    }
    return all;
  }

  int64_t TimeOf(const Stacks& stacks) const {
    int64_t time = 0;
    for (size_t i : stacks) time += nodes_[i].self_ns;
    return time;
  }

  // What a reader sees first: the thread that did most different things, not one that waits.
  static size_t Richest(const std::vector<std::pair<size_t, Stacks>>& roots) {
    const auto most = std::max_element(roots.begin(), roots.end(), [](auto& a, auto& b) {
      return a.second.size() < b.second.size();
    });
    return static_cast<size_t>(most - roots.begin());
  }

  std::vector<size_t> FramesOf(size_t node) {
    std::vector<size_t> path;
    for (size_t at = node; nodes_[at].parent >= 0; at = static_cast<size_t>(nodes_[at].parent))
      path.push_back(frames_.Of(nodes_[at].name));
    return {path.rbegin(), path.rend()};
  }

  const std::span<const StackTree::Node> nodes_;
  std::vector<size_t> root_;   // of each node
  std::vector<size_t> depth_;  // 0: a thread or stream
  Stacks taken_;
  Numbering<std::string_view> frames_;
  FlameText text_;
};

}  // namespace

FlameText TimelineFlame(const StackTree& tree, std::string_view title, size_t most_bytes) {
  return FlameWriter(tree, most_bytes).Write(title);
}

}  // namespace debrief::outputs::html
