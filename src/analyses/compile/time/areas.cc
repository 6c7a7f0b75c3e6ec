#include "analyses/compile/time/areas.h"

#include <array>

namespace debrief::analyses::compile_time {

namespace {

struct Rule {
  std::string_view prefix;
  Area area;
};

// The first that fits counts.
constexpr std::array kRules = {
    Rule{"dynamo", Area::kDynamo},
    Rule{"entire_frame_compile", Area::kDynamo},
    Rule{"compile_attempt_", Area::kDynamo},
    Rule{"bytecode_tracing", Area::kDynamo},
    Rule{"build_guards", Area::kDynamo},
    Rule{"gc", Area::kDynamo},
    Rule{"insert_deferred_runtime_asserts", Area::kDynamo},
    Rule{"pgo.", Area::kDynamo},
    Rule{"compiled_autograd", Area::kDynamo},
    Rule{"backend_compile", Area::kAot},
    Rule{"entire_backward_compile", Area::kAot},
    Rule{"create_aot_dispatcher_function", Area::kAot},
    Rule{"aot_", Area::kAot},
    Rule{"min_cut_rematerialization_partition", Area::kAot},
    Rule{"AOTAutogradCache", Area::kAot},
    Rule{"compile_fx.<locals>.", Area::kAot},
    Rule{"inductor_", Area::kInductor},
    Rule{"fx_codegen_and_compile", Area::kInductor},
    Rule{"_recursive_", Area::kInductor},
    Rule{"pass.", Area::kInductor},
    Rule{"additional_fake_tensor_prop", Area::kInductor},
    Rule{"GraphLowering.run", Area::kInductor},
    Rule{"GraphLowering.", Area::kCodegen},
    Rule{"code_gen", Area::kCodegen},
    Rule{"Scheduler.", Area::kCodegen},
    Rule{"PythonWrapperCodegen.", Area::kCodegen},
    Rule{"generate_kernel_code", Area::kCodegen},
    Rule{"PyCodeCache.", Area::kTriton},
    Rule{"async_compile", Area::kTriton},
    Rule{"CachingAutotuner", Area::kTriton},
    Rule{"StaticAutotuner", Area::kTriton},
    Rule{"TritonBundler", Area::kTriton},
    Rule{"benchmark_", Area::kTriton},
    Rule{"compile_file", Area::kTriton},
};

}  // namespace

std::string_view AreaName(Area area) {
  constexpr std::array<std::string_view, kAreas> kNames = {"other",    "dynamo",  "aot",
                                                           "inductor", "codegen", "triton"};
  return kNames[static_cast<size_t>(area)];
}

Area AreaOf(std::string_view phase) {
  for (const Rule& rule : kRules) {
    if (phase.starts_with(rule.prefix)) return rule.area;
  }
  // mm_template_precompiling, bmm_template_autotuning
  return phase.find("_template_") != phase.npos ? Area::kTriton : Area::kOther;
}

}  // namespace debrief::analyses::compile_time
