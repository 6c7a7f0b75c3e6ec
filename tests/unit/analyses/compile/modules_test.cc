// Modules as the guards of a compilation name them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "analyses/compile/modules/guarded_modules.h"

namespace debrief::analyses::compile_modules {

namespace {

// "self.act ReLU; ..."
std::string Modules(std::string_view text) {
  std::string told;
  for (const StackModule& one : ParseGuardedModules(text))
    told += fmt::format("{} {}; ", one.path, one.type);
  return told;
}

}  // namespace

TEST(GuardedModules, AreThoseThatTheTreeReaches) {
  EXPECT_EQ(
      Modules("TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
              "| +- GuardManager: source=L['self'], accessed_by=F(key='self'), "
              "type=<class '__main__.Net'>, tag_safe=(False, False)\n"
              "| | +- TYPE_MATCH: ___check_type_id(L['self'], 7), type=<class '__main__.Net'>\n"
              "| | +- GuardManager: source=L['self']._modules, accessed_by=G(_modules), "
              "type=<class 'dict'>, tag_safe=(False, False)\n"
              "| | | +- ValueManager: GuardManager: source=L['self']._modules['layers']."
              "_modules['0'], type=<class 'nn.ReLU'>, tag_safe=(False, False)\n"
              "| | | +- GuardManager: source=L['self']._modules['fc']._parameters['weight'], "
              "accessed_by=D('weight'), type=<class 'torch.nn.parameter.Parameter'>\n"),
      "self __main__.Net; self.layers.0 nn.ReLU; ");
}

TEST(GuardedModules, AreToldOnceAndNeverOfBrokenLines) {
  EXPECT_EQ(Modules("| +- GuardManager: source=L['m'], type=<class 'A'>\n"
                    "| +- GuardManager: source=L['m'], type=<class 'B'>\n"
                    "| +- GuardManager: source=L['m, type=<class 'C'>\n"
                    "| +- GuardManager: source=G['m'], type=<class 'D'>\n"
                    "| +- GuardManager: source=L['n']._modules['x, type=<class 'E'>\n"
                    "| +- GuardManager: source=L['n'], type=<class 'F\n"
                    "| +- GuardManager: source="),
            "m A; ");
}

TEST(GuardedModules, AreTheSameBehindTorchCompile) {
  EXPECT_EQ(
      Modules("| +- GuardManager: source=L['m'], type=<class 'OptimizedModule'>\n"
              "| | +- GuardManager: source=L['m']._orig_mod, type=<class 'Net'>\n"
              "| | +- GuardManager: source=L['m']._orig_mod._modules['fc'], type=<class 'F'>"),
      "m Net; m.fc F; ");
}

}  // namespace debrief::analyses::compile_modules
