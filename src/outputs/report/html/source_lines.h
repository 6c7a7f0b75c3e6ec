// What a run knows about lines of source: which compilations began there, what broke, failed or was
// compiled again because of them, and which nodes, kernels and collectives come from them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/model.h"

namespace debrief::outputs::html {

// Names of things of one line, the first few of them; all are counted.
struct LineList {
  static constexpr size_t kMost = 12;
  int64_t count = 0;
  std::vector<std::string> first;  // each once

  void Add(std::string_view name);
};

// The last collective that a line issued: dumps have the last ones, and so have the report's grids.
struct LineCall {
  StringId group = StringId::kNone;
  int32_t seq = kNone32;
  int32_t rank = kNone32;
};

struct SourceLine {
  std::string code;      // empty: not known
  std::string function;  // the compiled one that begins here
  // Compilations, as the page names them: input:rank:life:id.
  LineList compiled;    // functions that begin here
  LineList recompiled;  // because of a guard that this line needs
  LineList failed;
  int64_t breaks = 0;
  int64_t guards = 0;
  int64_t failed_guards = 0;
  int64_t nodes = 0;  // of different graphs
  LineList kernels;
  LineList collectives;
  LineCall call;
  int64_t exports = 0;  // issues of torch.export
  double seconds = 0;   // of the compilations that begin here

  bool has_facts() const;
};

using SourceFile = std::map<int32_t, SourceLine>;                           // by line
using SourceFiles = std::map<std::pair<int32_t, std::string>, SourceFile>;  // by job and path

// Costs a pass over the tables of compilations and collectives and over the text of each different
// graph that Dynamo made, of `graph_bytes` in all at most.
SourceFiles CollectSource(const Model& model, int64_t graph_bytes);

// The file of `files` that a path with its front cut off ("ork/proj/train.py") stands for, in a
// job: the only one that ends as it does, else the only one of that name; nullptr when none or
// several do.
SourceFile* FindShortened(SourceFiles& files, int32_t job, std::string_view path);

}  // namespace debrief::outputs::html
