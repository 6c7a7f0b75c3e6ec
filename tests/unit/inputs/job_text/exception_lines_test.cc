// Lines around tracebacks, last words of processes, and what Kubernetes says of pods.
#include "inputs/job_text/lines/exception_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "tables/process_exit.h"
#include "tables/text_event.h"
#include "unit/inputs/input_helpers.h"

namespace debrief::inputs::job_text {
namespace exception_lines_test {

TEST(ExceptionLines, HeadsOfTracebacks) {
  EXPECT_EQ(ClassOfTracebackLine("Traceback (most recent call last):"), LineClass::kTraceback);
  EXPECT_EQ(ClassOfTracebackLine("Traceback (most recent call last): (RANK 2)"),
            LineClass::kTraceback);
  EXPECT_EQ(ClassOfTracebackLine("\u256d\u2500 Traceback (most recent call last) \u2500\u256e"),
            LineClass::kTraceback);
  EXPECT_EQ(ClassOfTracebackLine("see Traceback (most recent call last) above"), LineClass::kOther);
  EXPECT_TRUE(IsInsideMessage("Original Traceback (most recent call last):"));
  EXPECT_TRUE(IsInsideMessage("    | Traceback (most recent call last):"));
  EXPECT_FALSE(IsInsideMessage("Traceback (most recent call last):"));
}

TEST(ExceptionLines, StartsThatFailed) {
  EXPECT_TRUE(IsNoStart("train.py: error: unrecognized arguments: --lr"));
  EXPECT_TRUE(IsNoStart("/usr/bin/python3: can't open file 'a.py': [Errno 2] No such file"));
  EXPECT_TRUE(IsNoStart("run.sh: line 9: torchrun: command not found"));
  EXPECT_FALSE(IsNoStart("run.sh: line 9: module: command not found"));
  EXPECT_FALSE(IsNoStart("gcc: error: unrecognized arguments: -x"));
  EXPECT_FALSE(IsNoStart("the page was not found"));
  EXPECT_TRUE(IsNoStart("python: symbol lookup error: a.so: undefined symbol: f"));
  EXPECT_TRUE(IsNoStart("docker: Error response from daemon: no such image"));
  EXPECT_TRUE(IsLineOfContainerLog("slurmstepd: error: pyxis:     mkdir: cannot create /run/a"));
  EXPECT_FALSE(IsLineOfContainerLog("slurmstepd: error: pyxis:     [INFO] Querying registry"));
}

TEST(ExceptionLines, LastWords) {
  EXPECT_TRUE(IsAbortText("double free or corruption (!prev)"));
  EXPECT_TRUE(IsAbortText("python: a.cc:42: f(): Assertion `n > 0' failed."));
  EXPECT_FALSE(IsAbortText("we call free(): it is fine"));
  EXPECT_TRUE(IsAbortText(" 33%|### [4:51Memory access fault by GPU node-3 (Agent handle: 0x5a)"));
}

TEST(ExceptionLines, BarsOfExceptionGroups) {
  EXPECT_EQ(WithoutBars("    | ValueError: 1"), "ValueError: 1");
  EXPECT_EQ(WithoutBars("| table | cell |"), "| table | cell |");
}

constexpr std::string_view kPod =
    "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"metadata\": {\"name\": \"worker-0\"},\n"
    "\"status\": {\"containerStatuses\": [{\"name\": \"a\", \"state\": {\"terminated\":\n"
    "{\"exitCode\": 137, \"reason\": \"OOMKilled\", \"finishedAt\": \"2026-11-15T23:22:09Z\"}}}]}}";

TEST(Pods, JsonAndYamlSayTheSame) {
  constexpr std::string_view kYaml =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: worker-0\nstatus:\n  containerStatuses:\n"
      "  - name: a\n    state:\n      terminated:\n        exitCode: 137\n"
      "        finishedAt: \"2026-11-15T23:22:09Z\"\n        reason: OOMKilled\n";
  for (std::string_view text : {kPod, kYaml}) {
    Part part = testing::ImportBytes("job_text", text, 100);
    const auto& exits = part.tables.Get<ProcessExitTable>();
    ASSERT_EQ(exits.size(), 1U) << text;
    EXPECT_EQ(part.pools.Text(exits.host[0]), "worker-0");
    EXPECT_EQ(exits.exit_code[0], -9);
    EXPECT_EQ(part.pools.Text(exits.text[0]), "Exit Code:    137 (OOMKilled)");
    EXPECT_EQ(exits.time_ns[0], int64_t{1794784929} * 1'000'000'000);
  }
}

TEST(Pods, BrokenJsonKeepsWhatWasReadBefore) {
  for (size_t size = 0; size < kPod.size(); size += 7)
    testing::ImportBytes("job_text", kPod.substr(0, size), 100);
}

}  // namespace exception_lines_test
}  // namespace debrief::inputs::job_text
