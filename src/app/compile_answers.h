// Answers of `debrief compile` that go to stdout (or a folder of Python files) instead of a tree.
#pragma once

#include "app/commands/commands.h"
#include "model/model.h"

namespace debrief {

bool AsksForAnswer(const CompileOptions& options);

Status PrintCompileAnswer(const Model& model, const CompileOptions& options,
                          const GlobalOptions& global);

}  // namespace debrief
