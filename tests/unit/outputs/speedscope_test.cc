#include "outputs/report/html/flames/speedscope.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/paths.h"
#include "tables/compile_span.h"
#include "unit/outputs/timeline_helpers.h"

namespace debrief::outputs::html {

namespace speedscope_test {

Model TimelineModel() {
  Model model;
  testing::ImportInto(model, "chrome_trace", std::string(testing::kTimelineJson));
  return model;
}

StackTree TreeOf(const Model& model) {
  StackTree tree(model.pools);
  for (const timeline::TimelineView& view : timeline::Timelines(model))
    tree.Add(view, "", Frames::kAll);
  return tree;
}

class Folder {
 public:
  std::string path() const { return scratch_.path(); }

  std::string Text(const std::string& name) const {
    std::ifstream file(path() + "/" + name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  std::set<std::string> Names() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path()))
      if (entry.is_regular_file())
        names.insert(std::filesystem::relative(entry.path(), path()).string());
    return names;
  }

 private:
  const ScratchFolder scratch_{"/tmp/debrief_speedscope_"};
};

TEST(Speedscope, StacksAreListsOfFrames) {
  const Model model = TimelineModel();
  const FlameText flame = TimelineFlame(TreeOf(model), "rank 1", 100'000);
  EXPECT_EQ(flame.left_out_ns, 0);
  EXPECT_GT(flame.total_ns, 0);
  EXPECT_NE(flame.json.find("{\"name\":\"train.py(3): step\"}"), std::string::npos) << flame.json;
  EXPECT_NE(flame.json.find("\"name\":\"main, thread\",\"unit\":\"nanoseconds\""),
            std::string::npos)
      << flame.json;
  // step > aten::mm > cudaLaunchKernel: the first sight of each frame is in that of the stacks
  EXPECT_NE(flame.json.find("\"weights\":["), std::string::npos);
}

TEST(Speedscope, TheLongestStacksAreKept) {
  const Model model = TimelineModel();
  const FlameText all = TimelineFlame(TreeOf(model), "rank 1", 100'000);
  const FlameText some = TimelineFlame(TreeOf(model), "rank 1", 120);
  EXPECT_EQ(some.total_ns, all.total_ns);
  EXPECT_GT(some.left_out_ns, 0);
  EXPECT_LT(some.left_out_ns, some.total_ns);
  EXPECT_LT(some.json.size(), all.json.size());
  EXPECT_NE(some.json.find("overlaps"), std::string::npos) << some.json;  // 30 us, the longest
  EXPECT_EQ(some.json.find("cudaLaunchKernel"), std::string::npos) << some.json;
}

TEST(Speedscope, ViewerAndLicenceLieBesideThePage) {
  const Folder folder;
  Islands islands(folder.path());
  ASSERT_TRUE(AddFlames(TimelineModel(), islands).ok());
  const std::set<std::string> wanted = {
      "flames.js",
      "speedscope/LICENSE",
      "speedscope/font.woff2",
      "speedscope/font_license.md",
      "speedscope/index.html",
      "speedscope/speedscope.css",
      "speedscope/speedscope.js",
      "speedscope/timeline_0.js",
  };
  EXPECT_EQ(folder.Names(), wanted);
  EXPECT_NE(folder.Text("speedscope/LICENSE").find("MIT License"), std::string::npos);
  EXPECT_NE(folder.Text("speedscope/index.html").find("src=\"speedscope.js\""), std::string::npos);
  EXPECT_NE(folder.Text("speedscope/speedscope.css").find("font.woff2"), std::string::npos);
  const std::string script = folder.Text("speedscope/timeline_0.js");
  EXPECT_TRUE(script.starts_with("speedscope.loadFileFromBase64(\"timeline_0.json.gz\",\"H4sI"))
      << script.substr(0, 100);
}

TEST(Speedscope, NothingIsWrittenWithoutStacks) {
  const Folder folder;
  Islands islands(folder.path());
  ASSERT_TRUE(AddFlames(Model(), islands).ok());
  EXPECT_TRUE(folder.Names().empty());
  Model model;
  model.tables.Edit<CompileSpanTable>().Add(CompileSpanRow());  // of unknown place
  ASSERT_TRUE(AddFlames(model, islands).ok());
  EXPECT_EQ(folder.Names(), std::set<std::string>{"flames.js"});
}

TEST(Speedscope, APageOfOneFileHasNoFlames) {
  Islands islands("");
  ASSERT_TRUE(AddFlames(TimelineModel(), islands).ok());
  const std::string elements = islands.Elements();
  EXPECT_NE(elements.find("data-island=\"flames\""), std::string::npos);
  EXPECT_LT(elements.size(), 400u);
}

}  // namespace speedscope_test

}  // namespace debrief::outputs::html
