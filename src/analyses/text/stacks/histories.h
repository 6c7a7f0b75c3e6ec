// Where each process stood, dump after dump.
//
//   stack_dump --> Series: dumps of one tool in one attempt
//              --> History: one process in it
//              --> Stand: what its main thread did in one dump
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/model.h"
#include "torch/stacks/stack_roles.h"

namespace debrief::analyses::text_stacks {

struct Stand {
  size_t row = 0;  // of stack_dump
  Doing doing = Doing::kNothing;
  std::string what;        // it waits or works in
  std::string key;         // the user's frames: equal keys are equal places
  std::string function;    // of the user's frame; empty at the level of a module
  std::string place;       // "train.py:41"
  std::string_view file;   // of the user's frame
  int32_t line = 0;        // likewise
  std::string_view error;  // what came in place of a stack
};

struct History {
  int32_t rank = kNone32;
  int64_t pid = kNone64;      // where the rank is not known
  std::vector<Stand> stands;  // oldest first

  const Stand& last() const { return stands.back(); }
  // In how many of the last dumps it stood where it stands in the last one.
  size_t still() const;
  // Was it elsewhere before, not counting its start?
  bool moved_before() const;
};

struct Series {
  int32_t job = kNone32;
  int32_t attempt = kNone32;
  std::string_view source;
  std::vector<History> processes;  // in order of rank and process
};

std::vector<Series> CollectSeries(const Model& model);

}  // namespace debrief::analyses::text_stacks
