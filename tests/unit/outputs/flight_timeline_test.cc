#include <gtest/gtest.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "base/paths.h"
#include "outputs/exports/flight_timeline/layout.h"
#include "outputs/output.h"
#include "unit/outputs/comm_fixture.h"

namespace debrief::outputs::flight_timeline {

const Output& Describe();

namespace flight_timeline_test {

using simdjson::dom::element;

class FlightTimeline : public ::testing::Test {
 protected:
  FlightTimeline() : job_(model_) {}

  std::string Path() const { return folder_ + "/flight_timeline.json"; }

  // Writes the file and reads it back as JSON.
  element Write() {
    EXPECT_TRUE(Describe().write(model_, {.folder = folder_}).ok());
    std::ifstream file(Path(), std::ios::binary);
    text_.assign(std::istreambuf_iterator<char>(file), {});
    element document;
    EXPECT_EQ(parser_.parse(text_).get(document), simdjson::SUCCESS) << text_.substr(0, 2000);
    return document;
  }

  // Events of one phase.
  static std::vector<element> Events(element document, std::string_view phase) {
    std::vector<element> found;
    for (element event : document["traceEvents"]) {
      if (std::string_view(event["ph"]) == phase) found.push_back(event);
    }
    return found;
  }

  Model model_;
  CommJob job_;
  const ScratchFolder scratch_{"/tmp/debrief_timeline_"};
  const std::string& folder_ = scratch_.path();
  std::string text_;
  simdjson::dom::parser parser_;
};

TEST_F(FlightTimeline, IsOnlyWrittenOnRequest) { EXPECT_TRUE(Describe().info.on_request); }

TEST_F(FlightTimeline, NothingGivesAValidFile) {
  element document = Write();
  EXPECT_TRUE(Events(document, "X").empty());
}

TEST_F(FlightTimeline, BoxesHaveProcessTrackTimeAndArgs) {
  job_.Match("7", {5, 7}, 15, "completed");
  job_.Match("7", {5, 7}, 16, "started", {5});
  element document = Write();
  auto boxes = Events(document, "X");
  ASSERT_EQ(boxes.size(), 3u);
  std::map<std::string, std::string> processes, tracks;
  for (element event : Events(document, "M")) {
    std::string key = std::to_string(int64_t(event["pid"]));
    std::string_view what = event["name"];
    if (what == "process_name") processes[key] = std::string_view(event["args"]["name"]);
    if (what == "thread_name") tracks[key] = std::string_view(event["args"]["name"]);
  }
  EXPECT_EQ(processes, (std::map<std::string, std::string>{{"5", "rank 5"}, {"7", "rank 7"}}));
  EXPECT_EQ(tracks["5"], "mesh_dp [5, 7] (7)");
  EXPECT_EQ(int64_t(boxes[0]["pid"]), 5);
  EXPECT_DOUBLE_EQ(double(boxes[0]["ts"]), 0);
  EXPECT_DOUBLE_EQ(double(boxes[0]["dur"]), 500.5);
  EXPECT_DOUBLE_EQ(double(boxes[1]["ts"]), 0.002) << "rank 7 came two nanoseconds later";
  EXPECT_EQ(int64_t(boxes[2]["args"]["seq"]), 16);
  EXPECT_EQ(std::string_view(boxes[2]["args"]["state"]), "started");
  EXPECT_EQ(std::string_view(boxes[2]["args"]["input_sizes"]), "[[4, 4]]");
  EXPECT_EQ(int64_t(document["baseTimeNanoseconds"]), CommJob::kStart + 15'000'005);
}

TEST_F(FlightTimeline, OpenOpLastsToTheNewestTimeOfItsDump) {
  job_.Match("7", {5, 7}, 16, "started", {5});
  job_.Op(7, "9", {6, 7}, 20, "completed");
  auto boxes = Events(Write(), "X");
  ASSERT_EQ(boxes.size(), 2u);
  EXPECT_DOUBLE_EQ(double(boxes[0]["dur"]), 4500.5);
}

TEST_F(FlightTimeline, OneArrowThroughAllMembersOfAMatch) {
  job_.Match("0", {0, 1, 2, 3}, 1, "completed");
  job_.Match("0", {0, 1, 2, 3}, 2, "started", {1, 2, 3});
  element document = Write();
  auto starts = Events(document, "s");
  auto steps = Events(document, "t");
  auto ends = Events(document, "f");
  ASSERT_EQ(starts.size(), 1u) << "a match of one member has no arrow";
  ASSERT_EQ(steps.size(), 2u);
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(int64_t(starts[0]["pid"]), 0);
  EXPECT_EQ(int64_t(ends[0]["pid"]), 3);
  EXPECT_EQ(std::string_view(ends[0]["bp"]), "e");
  for (element event : {steps[0], steps[1], ends[0]})
    EXPECT_EQ(int64_t(event["id"]), int64_t(starts[0]["id"]));
}

TEST_F(FlightTimeline, BoxesOfATrackNeverOverlap) {
  for (int32_t seq = 0; seq < 200; ++seq) job_.Op(0, "7", {0, 1}, seq, "scheduled");
  for (size_t i = 0; i < 100; ++i)
    job_.ops().completed_ns[i] = job_.ops().created_ns[i] + 4'500'000;
  const Layout layout = MakeLayout(model_);
  ASSERT_EQ(layout.boxes.size(), 200u);
  EXPECT_EQ(layout.groups[0].lanes, kMostLanes);
  std::map<int32_t, int64_t> free_from;
  for (const Box& box : layout.boxes) {
    if (free_from.contains(box.lane)) {
      EXPECT_LE(free_from[box.lane], box.start_ns);
    }
    EXPECT_LE(box.start_ns, box.end_ns);
    free_from[box.lane] = box.end_ns;
  }
}

TEST_F(FlightTimeline, ExtremeTimesAndHostileTexts) {
  job_.Match("</script>\"\\\x01\xff", {0, 1}, 1, "completed");
  job_.ops().created_ns[0] = kNone64 + 1;
  job_.ops().completed_ns[0] = std::numeric_limits<int64_t>::max();
  job_.ops().created_ns[1] = kNone64;
  job_.ops().stack[0] = StackId::kNone;
  job_.ops().input_sizes[0] = model_.pools.Intern("\"}]\n");
  element document = Write();
  EXPECT_EQ(Events(document, "X").size(), 1u);
  EXPECT_EQ(int64_t(document["metadata"]["untimed"]), 1);
}

TEST_F(FlightTimeline, StackLinesOfTheUserInnermostFirst) {
  job_.Op(0, "7", {0, 1}, 1, "completed");
  std::vector<FrameId> frames = {
      model_.pools.AddFrame({.file = model_.pools.Intern("/venv/torch/distributed/c10d.py")})};
  for (int32_t line : {52, 90, 7, 1}) {
    frames.push_back(model_.pools.AddFrame({.file = model_.pools.Intern("train.py"),
                                            .function = model_.pools.Intern("step"),
                                            .line = line}));
  }
  job_.ops().stack[0] = model_.pools.AddStack(frames);
  auto boxes = Events(Write(), "X");
  auto stack = boxes[0]["args"]["stack"];
  EXPECT_EQ(std::string_view(stack.at(0)), "train.py:52 step");
  EXPECT_EQ(simdjson::dom::array(stack).size(), 3u);
}

TEST_F(FlightTimeline, SeveralRunsHaveProcessesOfTheirOwn) {
  job_.Op(3, "7", {3, 4}, 1, "completed");
  job_.Op(3, "7", {3, 4}, 1, "completed");
  job_.ops().attempt.Set(1, 1);
  auto boxes = Events(Write(), "X");
  EXPECT_NE(int64_t(boxes[0]["pid"]), int64_t(boxes[1]["pid"]));
}

TEST_F(FlightTimeline, FailureLeavesNothing) {
  ASSERT_EQ(::mkdir(Path().c_str(), 0777), 0);
  EXPECT_FALSE(Describe().write(model_, {.folder = folder_}).ok());
  EXPECT_NE(::access((Path() + ".tmp").c_str(), F_OK), 0);
  EXPECT_FALSE(Describe().write(model_, {.folder = folder_ + "/none"}).ok());
}

}  // namespace flight_timeline_test
}  // namespace debrief::outputs::flight_timeline
