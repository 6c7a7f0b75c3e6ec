#include "doctor/setup.h"

#include <gtest/gtest.h>

#include "doctor/advice.h"
#include "doctor/paste.h"
#include "doctor/shell_words.h"

namespace debrief::doctor {
namespace {

Setup Read(std::string_view script) {
  Setup setup;
  ReadScript(script, setup);
  return setup;
}

std::string Value(const Setup& setup, std::string_view name) {
  const Setting* setting = setup.Variable(name);
  return setting == nullptr ? "none" : setting->value;
}

TEST(DoctorShellWords, QuotesCommentsAndContinuedLines) {
  const auto commands = SplitScript("a 'b c' \"d \\\" e\" \\\n  f#g # rest\nh; i && j | k\n''");
  ASSERT_EQ(commands.size(), 6u);
  EXPECT_EQ(commands[0].words, (std::vector<std::string>{"a", "b c", "d \" e", "f#g"}));
  EXPECT_EQ(commands[1].words, std::vector<std::string>{"h"});
  EXPECT_EQ(commands[1].line, 3);
  EXPECT_EQ(commands[5].words, std::vector<std::string>{""});
}

TEST(DoctorShellWords, AnOpenQuoteEndsWithTheText) {
  EXPECT_EQ(SplitScript("a \"b").size(), 1u);
  EXPECT_EQ(SplitScript("a \"b\\").size(), 1u);
  EXPECT_EQ(SplitScript("\\").size(), 0u);
}

TEST(DoctorSetup, VariablesInVariables) {
  const auto setup = Read("A=/x\nexport B=$A/y C=\"${A}/z\" D=${NONE:-w} E=$NONE\nunset B\n");
  EXPECT_EQ(Value(setup, "B"), "none");
  EXPECT_EQ(Value(setup, "C"), "/x/z");
  EXPECT_EQ(Value(setup, "D"), "w");
  EXPECT_EQ(Value(setup, "E"), "$NONE");
  EXPECT_FALSE(setup.Variable("A")->is_exported);
}

TEST(DoctorSetup, AVariableThatNamesItselfDoesNotGrowForEver) {
  std::string script = "A=xx\n";
  for (int i = 0; i < 64; ++i) script += "A=$A$A\n";
  EXPECT_LE(Value(Read(script), "A").size(), 8192u);
}

TEST(DoctorSetup, LaunchersInsideOfLaunchers) {
  EXPECT_EQ(Read("srun python train.py").launcher, Launcher::kSrun);
  EXPECT_EQ(Read("srun -N2 torchrun --tee 3 train.py").launcher, Launcher::kTorchrun);
  EXPECT_EQ(Read("python -m torch.distributed.run --nnodes=2 t.py").launcher, Launcher::kTorchrun);
  EXPECT_EQ(Read("python -m accelerate.commands.launch --tee 3 t.py").launcher,
            Launcher::kAccelerate);
  EXPECT_EQ(Read("python -m pytest t.py").launcher, Launcher::kPython);
  EXPECT_EQ(Read("python3 train.py").launcher, Launcher::kPython);
  EXPECT_EQ(Read("mpiexec -n 8 -x A=1 python t.py").launcher, Launcher::kMpirun);
  EXPECT_EQ(Read("docker run -e A=2 img bash -c 'deepspeed t.py'").launcher, Launcher::kDeepspeed);
  EXPECT_EQ(Value(Read("docker run -e A=2 img bash -c 'deepspeed t.py'"), "A"), "2");
  EXPECT_EQ(Read("A=1 torchrun -r 3 --log_dir=x t.py").Option("torchrun log-dir")->value, "x");
  EXPECT_EQ(Read("echo hello").launcher, Launcher::kUnknown);
}

TEST(DoctorSetup, Versions) {
  EXPECT_EQ(ParseTorchVersion("2.6.0+cu124"), (TorchVersion{2, 6}));
  EXPECT_EQ(ParseTorchVersion("v2.10"), (TorchVersion{2, 10}));
  EXPECT_LT((TorchVersion{2, 9}), (TorchVersion{2, 10}));
  for (const char* text : {"", "2", "x.y", "99.1", "2.x", "latest"})
    EXPECT_FALSE(ParseTorchVersion(text).has_value()) << text;
}

TEST(DoctorAdvice, ApplyingTheLinesLeavesNothingToSay) {
  for (const char* script : {"torchrun --nnodes 2 t.py", "srun python t.py", "python t.py"}) {
    const auto before = Read(script);
    const ShowOptions show = {.target = Target::kSbatch, .logs = "/shared/logs"};
    const std::string paste = PasteLines(Advise(before, std::nullopt), before, show);
    // The last line is the launcher with options in front of its own words.
    std::string applied = paste.substr(0, paste.rfind("..."));
    applied += before.launcher == Launcher::kTorchrun ? "--nnodes 2 t.py" : "python t.py";
    const auto after = Read(applied);
    for (const Advice& advice : Advise(after, std::nullopt))
      EXPECT_EQ(advice.state, AdviceState::kOk) << script << ": " << advice.subject << "\n"
                                                << applied;
  }
}

}  // namespace
}  // namespace debrief::doctor
