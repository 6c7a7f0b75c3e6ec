// What goes into a bundle, redacted, and what is left out, with reasons.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/bundle/temporary_file.h"
#include "base/bytes/spill.h"
#include "base/status.h"
#include "base/tar/tar_writer.h"
#include "inputs/found_input.h"
#include "redact/kinds.h"
#include "redact/names.h"

namespace debrief::bundle {

struct Limits {
  uint64_t file_bytes = uint64_t{1} << 30;
  uint64_t all_bytes = uint64_t{8} << 30;
};

struct Choice {
  bool redacts = true;
  redact::Options hides;
  bool documents = false;               // also texts by people: sources, notes
  std::vector<std::string> kinds = {};  // of inputs; empty: all
  Limits limits = {};
};

struct Member {
  std::string name;  // in the bundle
  std::string kind;
  uint64_t bytes = 0;
  redact::Counts replaced = {};
};

struct LeftOut {
  std::string name;  // redacted
  std::string why;
  uint64_t bytes = 0;
};

struct Contents {
  std::vector<Member> members;
  std::vector<LeftOut> left_out;
  redact::Counts replaced = {};
};

// Takes the inputs of a job one by one: Learn() all first, then Settle(), then Add() all.
class Bundler {
 public:
  // `roots`: what was named on the command line; what lies outside of them is left out.
  Bundler(const Choice& choice, const std::vector<std::string>& roots, SpillBudget& budget);

  redact::Names& names() { return names_; }
  void Learn(FoundInput& input);
  void Settle() { names_.Settle(); }
  Status Add(FoundInput& input, TarWriter& tar);

  // A text of ours, redacted as others are.
  std::string Redacted(std::string_view text);
  const Contents& contents() const { return contents_; }

 private:
  std::string NameOf(const FoundInput& input) const;
  std::string WhyNot(const FoundInput& input) const;
  bool LeadsOut(const std::string& file) const;
  Status Write(const FoundInput& input, const Source& source, Member& member, std::string& why);
  Status RedactTo(const FoundInput& input, const Source& source, redact::Counts& counts);
  std::string UniqueName(const std::string& name);

  const Choice& choice_;
  std::vector<std::string> roots_;   // as named
  std::vector<std::string> places_;  // and where they are
  SpillBudget& budget_;
  redact::Names names_;
  Contents contents_;
  std::set<std::string, std::less<>> used_names_;
  uint64_t bytes_ = 0;
  TemporaryFile spool_;
};

}  // namespace debrief::bundle
