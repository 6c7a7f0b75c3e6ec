// Changes in words, and what to write against them.
#include <fmt/format.h>

#include "analyses/compile/guard_text.h"

namespace debrief::analyses::compile_recompiles {

namespace {

std::string What(const Change& change) {
  const std::string& name = change.name;
  if (change.kind == "size" || change.kind == "stride") {
    if (change.dimension == kNone32) return fmt::format("{} of {}", change.kind, name);
    return fmt::format("{} of {} at dimension {}", change.kind, name, change.dimension);
  }
  if (change.kind == "dimensions") return fmt::format("number of dimensions of {}", name);
  if (change.kind == "dispatch") return fmt::format("dispatch keys of {}", name);
  if (change.kind == "requires_grad") return fmt::format("requires_grad of {}", name);
  if (change.kind == "type" || change.kind == "dtype" || change.kind == "device" ||
      change.kind == "length")
    return fmt::format("{} of {}", change.kind, name);
  return name;
}

std::string BeforeCall(const Advice& advice) {
  return advice.call.empty() ? fmt::format("before calling {}", advice.function)
                             : fmt::format("before the call at {}", advice.call);
}

std::string SizeStep(const Change& change, const Advice& advice) {
  if (advice.is_parameter)
    return "Set torch._dynamo.config.force_parameter_static_shapes = False, or compile the "
           "function "
           "once for each parameter shape.";
  if (change.dimension == kNone32)
    return fmt::format("Use `torch.compile({}, dynamic=True)`.", advice.function);
  std::string step = fmt::format("Call `torch._dynamo.mark_dynamic({}, {})` {}", change.name,
                                 change.dimension, BeforeCall(advice));
  if (!advice.symbol.empty())
    step += fmt::format("; it is dynamic ({}) from this compilation on", advice.symbol);
  return step + ".";
}

std::string TypeStep(const Change& change, const Advice& advice) {
  const bool is_number = (change.old_value == "int" || change.old_value == "float") &&
                         (change.new_value == "int" || change.new_value == "float");
  if (is_number)
    return fmt::format("Pass `float({})` in every call of {}.", change.name, advice.function);
  if (change.old_value.empty())
    return fmt::format("Pass {} with one type in every call of {}.", change.name, advice.function);
  return fmt::format("Pass {} as {} in every call of {}, or compile one function for each type.",
                     change.name, change.old_value, advice.function);
}

std::string ValueStep(const Change& change, const Advice& advice) {
  if (!advice.symbol.empty())
    return fmt::format(
        "Use `torch.compile({}, dynamic=True)`: {} is dynamic ({}) from this compilation "
        "on, and would be from the first.",
        advice.function, change.name, advice.symbol);
  return fmt::format(
      "Pass {0} as a tensor, `torch.tensor({0})`, or keep it the same: each value of "
      "it is compiled.",
      change.name);
}

std::string IdentityStep(const Change& change, const Advice& advice) {
  const bool is_self = change.name == "self" || change.name.starts_with("self.");
  if (is_self)
    return fmt::format(
        "Let instances share one {}: pass what differs as an argument, or set "
        "torch._dynamo.config.inline_inbuilt_nn_modules = True.",
        advice.function);
  return fmt::format("Make {} once and pass the same object to {} in every call.", change.name,
                     advice.function);
}

}  // namespace

std::string InWords(const Change& change, std::string_view guard) {
  if (guard.starts_with("Unexpected recompilation: "))
    return "the guards held when PyTorch looked again";
  if (change.kind == "other" || change.kind == "expression")
    return fmt::format("no longer true: {}", guard);
  if (change.kind == "global_state") return fmt::format("global state changed: {}", change.name);
  if (change.kind == "deallocated") return fmt::format("{} was deallocated", change.name);
  if (change.kind == "identity") return fmt::format("{} is another object", change.name);
  if (change.old_value.empty() && change.new_value.empty())
    return fmt::format("{} no longer fits: {}", What(change), guard);
  if (change.new_value.empty())
    return fmt::format("{} was {}, and is no longer", What(change), change.old_value);
  if (change.old_value.empty()) return fmt::format("{} is now {}", What(change), change.new_value);
  return fmt::format("{} was {}, now {}", What(change), change.old_value, change.new_value);
}

std::string NextStep(const Change& change, const Advice& advice) {
  const std::string& name = change.name;
  const std::string_view kind = change.kind;
  if (kind == "size") return SizeStep(change, advice);
  if (kind == "type") return TypeStep(change, advice);
  if (kind == "value") return ValueStep(change, advice);
  if (kind == "identity" || kind == "deallocated") return IdentityStep(change, advice);
  if (kind == "flag")
    return fmt::format(
        "Compile one function for each value of {0}, or replace the branch by "
        "`torch.where` or `torch.cond`; two versions are the price of a flag.",
        name);
  if (kind == "stride")
    return fmt::format("Write `{0} = {0}.contiguous()` {1}.", name, BeforeCall(advice));
  if (kind == "dtype")
    return fmt::format("Write `{0} = {0}.to(dtype)` with one dtype {1}.", name, BeforeCall(advice));
  if (kind == "device")
    return fmt::format("Write `{0} = {0}.to(device)` with one device {1}.", name,
                       BeforeCall(advice));
  if (kind == "dimensions")
    return fmt::format("Give {} the same number of dimensions (unsqueeze, flatten) {}.", name,
                       BeforeCall(advice));
  if (kind == "requires_grad")
    return fmt::format("Write `{0} = {0}.detach()`, or set the same requires_grad each time, {1}.",
                       name, BeforeCall(advice));
  if (kind == "length")
    return fmt::format("Keep len({}) the same, or pass one stacked tensor to {}.", name,
                       advice.function);
  if (kind == "attribute" || kind == "key")
    return fmt::format("Set {} once, before the first call of {}.", name, advice.function);
  if (kind == "alias") return fmt::format("Pass `{0}.clone()` {1}.", name, BeforeCall(advice));
  if (kind == "global_state")
    return fmt::format(
        "Call {} under the same torch.no_grad(), autocast, default dtype and device "
        "each time.",
        advice.function);
  if (kind == "dispatch")
    return fmt::format("Pass {} on the same device, and the same kind of tensor, each time.", name);
  return fmt::format(
      "See the guard in table compile_guard; `torch.compile({}, dynamic=True)` helps "
      "against shapes.",
      advice.function);
}

}  // namespace debrief::analyses::compile_recompiles
