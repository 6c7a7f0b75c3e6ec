#include "analyses/compile/guard_text.h"

#include <gtest/gtest.h>

#include <string>

#include "analyses/compile/guards/guard_tree.h"

namespace debrief::analyses::compile_recompiles {
namespace compile_guard_text_test {

// "kind name dimension old>new"
std::string Parsed(std::string_view guard) {
  const Change change = ParseGuard(guard);
  std::string text = std::string(change.kind) + " " + change.name;
  if (change.dimension != kNone32) text += "@" + std::to_string(change.dimension);
  return text + " " + change.old_value + ">" + change.new_value;
}

TEST(GuardText, Tensors) {
  EXPECT_EQ(Parsed("tensor 'x' size mismatch at index 1. expected 64, actual 48"),
            "size x@1 64>48");
  EXPECT_EQ(
      Parsed("tensor 'X[0]' size mismatch at index 1. expected 640, actual 8. Guard failed on "
             "a parameter, consider using x"),
      "size X[0]@1 640>8");
  EXPECT_EQ(Parsed("tensor 'p' strides mismatch at index 0. expected 16, actual 262144"),
            "stride p@0 16>262144");
  EXPECT_EQ(Parsed("tensor 'x' rank mismatch. expected 2, actual 3"), "dimensions x 2>3");
  EXPECT_EQ(Parsed("tensor 'x' dtype mismatch. expected Float, actual Half"), "dtype x Float>Half");
  EXPECT_EQ(Parsed("tensor 'x' requires_grad mismatch. expected requires_grad=1"),
            "requires_grad x True>False");
  EXPECT_EQ(Parsed("tensor 'x' requires_grad mismatch. expected requires_grad=0"),
            "requires_grad x False>True");
  EXPECT_EQ(Parsed("tensor 'x' Tensor device index mismatch. Expected device index to be 0, "
                   "actual 1"),
            "device x 0>1");
  EXPECT_EQ(Parsed("tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, A), actual "
                   "DispatchKeySet(CUDA, A)"),
            "dispatch x DispatchKeySet(CPU, A)>DispatchKeySet(CUDA, A)");
  EXPECT_EQ(Parsed("expected type of 'x' to be a tensor type, ' but found <class 'int'>"),
            "type x Tensor>int");
  EXPECT_EQ(Parsed("Duplicate tensor found where not expected! xshould not alias to anything, but "
                   "is aliased"),
            "alias x no other input>the same tensor as another input");
}

TEST(GuardText, Values) {
  EXPECT_EQ(Parsed("k == 1"), "value k 1>");
  EXPECT_EQ(Parsed("L['self'].mode == 2   "), "value L['self'].mode 2>");
  EXPECT_EQ(Parsed("d['a b'].x == 'c == d'"), "value d['a b'].x 'c == d'>");
  EXPECT_EQ(Parsed("flag == True"), "flag flag True>");
  EXPECT_EQ(Parsed("x is None"), "value x None>");
  EXPECT_EQ(Parsed("x is not None"), "value x not None>None");
  EXPECT_EQ(Parsed("flag"), "flag flag true>false");
  EXPECT_EQ(Parsed("not self.training"), "flag self.training false>true");
  EXPECT_EQ(Parsed("len(xs) == 3"), "length xs 3>");
}

TEST(GuardText, TypesAndObjects) {
  EXPECT_EQ(Parsed("___check_type_id(k, 10731296), type=<class 'int'>"), "type k int>");
  EXPECT_EQ(Parsed("___check_type_id(self.a['b, c'], 12)"), "type self.a['b, c'] >");
  EXPECT_EQ(Parsed("___check_obj_id(fn, 139645370122560)"), "identity fn 139645370122560>");
  EXPECT_EQ(Parsed("type(k) == int"), "type k int>");
  EXPECT_EQ(Parsed("isinstance(k, int)"), "type k int>");
  EXPECT_EQ(Parsed("hasattr(x, '_dynamo_dynamic_indices') == False"),
            "attribute x._dynamo_dynamic_indices missing>there");
  EXPECT_EQ(Parsed("hasattr(x, 'a')"), "attribute x.a there>missing");
  EXPECT_EQ(Parsed("not ___dict_contains('forward', self.__dict__)"),
            "key self.__dict__['forward'] missing>there");
  EXPECT_EQ(Parsed("KeyError on d['a']"), "key d['a'] there>missing");
}

TEST(GuardText, ShapesAndTheWorld) {
  EXPECT_EQ(Parsed("x.size()[0] == 5"), "size x@0 5>");
  EXPECT_EQ(Parsed("Eq(L['x'].size()[1], 5)"), "size L['x']@1 5>");
  EXPECT_EQ(Parsed("2 <= d['a b'].size()[0]"), "size d['a b']@0 >");
  EXPECT_EQ(Parsed("x.stride()[1] == 1"), "stride x@1 1>");
  EXPECT_EQ(Parsed("Ne(s0, 1)"), "expression  >");
  EXPECT_EQ(Parsed("GLOBAL_STATE changed: grad_mode "), "global_state grad_mode >");
  EXPECT_EQ(Parsed("utils_device.CURRENT_DEVICE == None"), "global_state default device >");
  EXPECT_EQ(Parsed("Cache line invalidated because L['self'] got deallocated"),
            "deallocated L['self'] >");
  EXPECT_EQ(Parsed("something (quite) different"), "other  >");
  EXPECT_EQ(Parsed(""), "other  >");
}

TEST(GuardText, BrokenGuardsAreTakenWithoutHarm) {
  for (std::string_view guard :
       {"tensor '", "tensor 'x' size mismatch at index",
        "tensor 'x' size mismatch at index 9999999999", "___check_type_id(", "___check_obj_id()",
        "hasattr(", "___dict_contains(", ".size()[", "x.size()[", "Eq(", "type(", "isinstance(",
        "expected type of '", "len() == ", "' in ", " == ", "not ",
        "Duplicate tensor found where not expected! "}) {
    for (size_t bytes = 0; bytes <= guard.size(); ++bytes) {
      const std::string cut(guard.substr(0, bytes));
      const Change change = ParseGuard(cut);
      EXPECT_FALSE(InWords(change, cut).empty());
      EXPECT_FALSE(NextStep(change, {.function = "f"}).empty());
      ToSource(change.name);
    }
  }
}

TEST(GuardText, ReasonHasCompilationGuardAndPlace) {
  const FailedGuard failed = ParseReason(
      "4/1: ___check_type_id(k, 1), type=<class 'int'>        # return (x * k)  # "
      "ork/gpt/cases.py:60 in branchy (HINT: type int)\nUser stack trace:\n  File "
      "\"/home/me/cases.py\", line 61, in branchy\n    return (x * k)");
  EXPECT_EQ(failed.previous_id, "4/1");
  EXPECT_EQ(failed.guard, "___check_type_id(k, 1), type=<class 'int'>");
  EXPECT_EQ(failed.code, "return (x * k)");
  EXPECT_EQ(failed.file, "/home/me/cases.py");
  EXPECT_EQ(failed.line, 61);
  EXPECT_EQ(failed.function, "branchy");
}

TEST(GuardText, ReasonWithoutStackHasThePlaceOfItsComment) {
  const FailedGuard failed =
      ParseReason("0/0: k == 1  # x = k  # cases.py:60 in f (HINT: type int)");
  EXPECT_EQ(failed.file, "cases.py");
  EXPECT_EQ(failed.line, 60);
  EXPECT_EQ(failed.function, "f");
  EXPECT_EQ(failed.code, "x = k");
  const FailedGuard bare = ParseReason("d['a: b'] == 1");
  EXPECT_EQ(bare.previous_id, "");
  EXPECT_EQ(bare.guard, "d['a: b'] == 1");
  EXPECT_EQ(bare.line, kNone32);
}

TEST(GuardText, Sources) {
  EXPECT_EQ(ToSource("x"), "L['x']");
  EXPECT_EQ(ToSource("self._modules['a'].p"), "L['self']._modules['a'].p");
  EXPECT_EQ(ToSource("X[0]"), "L['X'][0]");
  EXPECT_EQ(ToSource("G['x']"), "G['x']");
  EXPECT_EQ(ToSource("default device"), "default device");
  EXPECT_EQ(ToSource(""), "");
}

}  // namespace compile_guard_text_test
}  // namespace debrief::analyses::compile_recompiles

namespace debrief::analyses::compile_guards {
namespace compile_guard_text_test {

constexpr std::string_view kTree =
    "\nTREE_GUARD_MANAGER:\n"
    "+- RootGuardManager\n"
    "| +- GLOBAL_STATE: ___check_global_state() against {\"a\": 1}\n"
    "| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x'), type=<class "
    "'a'>\n"
    "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor)  # y = x: # 2  # ork/a.py:15 in forward\n"
    "| +- DictGuardManager: source=L['d'], accessed_by=D\n"
    "| | +- KeyValueManager pair at index=0\n"
    "| | | +- KeyManager: GuardManager: source=list(L['d'].keys())[0]\n"
    "| | | | +- EQUALS_MATCH: list(L['d'].keys())[0] == 'a'   \n"
    "\nGuard latency = 49.08 us\n";

TEST(GuardTree, GuardsWithTheirSources) {
  GuardTree tree;
  ParseGuardTree(kTree, tree);
  ASSERT_EQ(tree.guards.size(), 3u);
  EXPECT_EQ(tree.guards[0].kind, "GLOBAL_STATE");
  EXPECT_EQ(tree.guards[0].guard, "___check_global_state() against {\"a\": 1}");
  EXPECT_EQ(tree.guards[0].source, "");
  EXPECT_EQ(tree.guards[1].kind, "TENSOR_MATCH");
  EXPECT_EQ(tree.guards[1].source, "L['x']");
  EXPECT_EQ(tree.guards[1].code, "y = x: # 2");
  EXPECT_EQ(tree.guards[1].file, "ork/a.py");
  EXPECT_EQ(tree.guards[1].line, 15);
  EXPECT_EQ(tree.guards[1].function, "forward");
  EXPECT_EQ(tree.guards[2].source, "list(L['d'].keys())[0]");
  EXPECT_EQ(tree.guards[2].guard, "list(L['d'].keys())[0] == 'a'");
  EXPECT_DOUBLE_EQ(tree.check_us, 49.08);
}

TEST(GuardTree, EveryPrefixIsTakenWithoutHarm) {
  GuardTree tree;
  for (size_t bytes = 0; bytes <= kTree.size(); ++bytes) {
    const std::string cut(kTree.substr(0, bytes));
    ParseGuardTree(cut, tree);
    EXPECT_LE(tree.guards.size(), 3u);
  }
  ParseGuardTree("| | | | | +- LEAF: deeper than any manager\n+- LEAF: at the root\n", tree);
  ASSERT_EQ(tree.guards.size(), 2u);
  EXPECT_EQ(tree.guards[0].source, "");
}

}  // namespace compile_guard_text_test
}  // namespace debrief::analyses::compile_guards
