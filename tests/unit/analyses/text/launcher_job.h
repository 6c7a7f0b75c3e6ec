// A job that left nothing but texts, through the importer and the analysis: what is found of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "analyses/schedule.h"
#include "base/threads/thread_pool.h"
#include "inputs/import.h"
#include "inputs/importer.h"
#include "tables/input.h"
#include "tables/job.h"
#include "tables/rank.h"

namespace debrief::inputs::job_text {
const Importer& Describe();
}
namespace debrief::analyses::text_hang {
const Analysis& Describe();
}

namespace debrief {

inline constexpr int64_t kLauncherNow = int64_t{1794787200} * 1'000'000'000;  // 16 November 2026

struct LauncherText {
  std::string path;
  int32_t rank = kNone32;
  std::string text;
  int32_t attempt = 0;
};

// One job of `world` ranks that left these texts.
class LauncherJob {
 public:
  LauncherJob(int32_t world, const std::vector<LauncherText>& texts) {
    JobRow job;
    job.job = 0;
    job.name = model_.pools.Intern("job");
    job.world_size = world;
    model_.tables.Edit<JobTable>().Add(job);
    for (const LauncherText& text : texts) AddText(text);
    AnalysisResult result;
    EXPECT_TRUE(RunDeclared(analyses::text_hang::Describe(), model_, result).ok());
    findings_ = std::move(result.findings);
  }

  const std::vector<Finding>& findings() const { return findings_; }
  const Model& model() const { return model_; }

  // The first error, which must exist.
  Finding First(int32_t attempt = 0) const {
    for (const Finding& finding : findings_) {
      if (finding.severity == Severity::kError && finding.attempt == attempt) return finding;
    }
    ADD_FAILURE() << "no error is reported";
    return {};
  }

 private:
  void AddText(const LauncherText& text) {
    static ThreadPool pool(2);
    InputRow input;
    input.input = static_cast<int32_t>(model_.tables.Get<InputTable>().size());
    input.job = 0;
    input.attempt = text.attempt;
    input.rank = text.rank;
    input.path = model_.pools.Intern(text.path);
    input.kind = model_.pools.Intern("job_text");
    input.bytes = static_cast<int64_t>(text.text.size());
    model_.tables.Edit<InputTable>().Add(input);
    ImportContext context{
        .who = {.input = input.input, .job = 0, .attempt = text.attempt, .rank = text.rank},
        .path = text.path,
        .chunk_bytes = 100,
        .now_ns = kLauncherNow};
    auto reader = inputs::job_text::Describe().open(context);
    Part part;
    EXPECT_TRUE(ImportSource(*reader, *MakeMemorySource(text.text), pool, part).ok());
    model_.Append(std::move(part));
  }

  Model model_;
  std::vector<Finding> findings_;
};

// The first error blames these ranks, and these words are in its headline.
inline void ExpectBlamed(const LauncherJob& job, const std::vector<int32_t>& ranks,
                         std::string_view words) {
  Finding first = job.First();
  EXPECT_EQ(first.ranks, ranks) << first.headline;
  EXPECT_NE(first.headline.find(words), std::string::npos) << first.headline;
}

}  // namespace debrief
