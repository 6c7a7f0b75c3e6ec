// What `py-spy dump --json` prints: a list of threads.
#pragma once

#include <functional>
#include <string_view>

#include "base/status.h"
#include "torch/stacks/stack_text.h"

namespace debrief::inputs::process_stacks {

// Calls `on_stack` for every thread. `text` has kPadding readable bytes behind it.
Status ReadPySpyJson(std::string_view text, const std::function<void(ThreadStack&&)>& on_stack);

}  // namespace debrief::inputs::process_stacks
