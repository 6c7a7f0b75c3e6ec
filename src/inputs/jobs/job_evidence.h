// What inputs tell about belonging together, and what makes it impossible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/pools/ids.h"

namespace debrief {

// How many files of one kind a rank may leave.
enum class EvidenceClass : uint8_t {
  kOnce,     // one a process: compile logs, Flight Recorder dumps
  kProfile,  // several a process, with the process's number
  kText,     // any number, told apart by their names
};

enum class EvidenceStrength : uint8_t {
  kNone,    // notes, sources, unknown files: go with the folder they lie in
  kWeak,    // a text that may be anything, an empty file
  kStrong,  // a known format, output of a rank or of a launcher
};

struct InputEvidence {
  std::string folder;
  std::string slot;  // kind; of a text with the pattern of its name
  EvidenceClass kind = EvidenceClass::kText;
  EvidenceStrength strength = EvidenceStrength::kNone;
  int32_t rank = kNone32;
  int32_t attempt = kNone32;  // as folder or name tell
  int64_t run = kNone64;      // of a scheduler, as names of one folder tell
  int32_t world_size = kNone32;
  int64_t pid = kNone64;
  int64_t start_ns = kNone64;
  int64_t end_ns = kNone64;
  bool is_launcher = false;
  std::set<int32_t> told;  // of a text of several processes: the ranks that it names
};

// Inputs that belong together, and what can be compared with another such group. A slot is what a
// process fills once: two groups with the same slot were left by different processes, unless the
// process or its start say that they are one.
class JobGroup {
 public:
  void Add(size_t index, const InputEvidence& input);
  void Merge(JobGroup&& other);

  const std::vector<size_t>& inputs() const { return inputs_; }
  EvidenceStrength strength() const { return strength_; }
  bool HasRanks() const { return !ranks_.empty(); }
  const std::set<int64_t>& pids() const { return pids_; }

  // The reason why the two cannot be one job; none when nothing contradicts. `named_by_content`:
  // one of them lies in a folder that is named after what is in it (stdout beside stderr).
  friend std::optional<std::string> Contradiction(const JobGroup& a, const JobGroup& b,
                                                  bool named_by_content);

  // Whether a rank, or a kind of file, is in both.
  friend bool ShareRanks(const JobGroup& a, const JobGroup& b);
  friend bool ShareKinds(const JobGroup& a, const JobGroup& b);

  std::string folder;           // of the job, as far as it is known
  int32_t only_size = kNone32;  // where one folder holds jobs of several world sizes
  int64_t only_run = kNone64;   // where it holds several runs of a scheduler
  std::string joined;           // what was put together last
  std::vector<std::string>
      reasons;  // other evidence that it is one job, and why others are not of it

 private:
  struct Slot {
    std::string kind;
    int32_t attempt;
    int32_t rank;
    auto operator<=>(const Slot&) const = default;
  };
  struct Holder {
    EvidenceClass kind;
    int64_t pid, start_ns;
    bool is_launcher;
    std::string folder;
    std::set<int32_t> told;
  };
  struct Hull {
    int64_t first = kNone64, last = kNone64;
    void Extend(int64_t from, int64_t to);
  };

  static std::optional<std::string> Exclude(const Slot& slot, const Holder& a, const Holder& b,
                                            bool named_by_content);
  static std::optional<std::string> ApartInTime(const JobGroup& a, const JobGroup& b);

  std::vector<size_t> inputs_;
  EvidenceStrength strength_ = EvidenceStrength::kNone;
  std::map<Slot, Holder> slots_;
  std::set<int32_t> ranks_, sizes_, attempts_;
  std::set<int64_t> pids_;
  Hull hulls_[3];  // by EvidenceClass
};

std::optional<std::string> Contradiction(const JobGroup& a, const JobGroup& b,
                                         bool named_by_content);
bool ShareRanks(const JobGroup& a, const JobGroup& b);
bool ShareKinds(const JobGroup& a, const JobGroup& b);

}  // namespace debrief
