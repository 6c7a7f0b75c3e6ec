// Finds the names of hosts and users in a text, by where they stand:
//
//   node07:4711:4812 [0] NCCL INFO ...      srun: error: node07: task 3: Killed      host : node07
//   MASTER_ADDR=node07   "hostname": "x"    Nov 15 02:42:35 node07 kernel: ... gpu7.corp.internal
//   /home/alice/train.py   USER=alice       /tmp/torchinductor_alice/               uid=1000(alice)
//
// A few searches for fixed words, each at the speed of memory.
#pragma once

#include <string_view>

#include "redact/names.h"

namespace debrief::redact {

class Learner {
 public:
  explicit Learner(Names& names) : names_(names) {}

  void Learn(std::string_view text);

 private:
  void Users(std::string_view text);
  void UsersInPaths(std::string_view text);
  void HostsOfNccl(std::string_view text);
  void HostsOfLaunchers(std::string_view text);
  void HostsOfKernel(std::string_view text);
  void HostsOfKeys(std::string_view text);
  void HostsOfAddresses(std::string_view text);
  void HostsOfDomains(std::string_view text);
  void HostsOfMarks(std::string_view text);
  void AddHostList(std::string_view list, bool is_certain);

  Names& names_;
};

}  // namespace debrief::redact
