// Names of hosts and users, addresses and shapes, each with what stands in its place. The same name
// has the same replacement in all files of a job: who ran where can still be told.
//
// Names are learned from all files first (learner.h) and numbered in their natural order, so that
// lists that were sorted by host stay sorted. Addresses and shapes are numbered as they come.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "redact/kinds.h"

namespace debrief::redact {

class Names {
 public:
  // Words that are no name of a machine or person (localhost, root, python) are left alone.
  // `is_certain`: it stands where nothing else can, so that a bare word is one, too.
  void AddHost(std::string_view name, bool is_certain = false);
  void AddUser(std::string_view name);
  // After the last of them.
  void Settle();

  struct Match {
    size_t length = 0;  // 0: none
    Secret kind = Secret::kHost;
    std::string_view replacement;
  };
  // The longest name that begins at text[at] and ends with a word; `is_bounded` false: that ends
  // anywhere.
  Match Find(std::string_view text, size_t at, bool is_bounded) const;

  // The replacement of a user in a path, where also "train" is a name. Empty for root and the like.
  std::string_view UserInPath(std::string_view name) const;

  std::string Address(std::string_view text, bool is_v6);
  std::string Email(std::string_view text);
  int64_t Dimension(int64_t number);
  std::string FileName(std::string_view name);
  std::string FolderName(std::string_view name);

 private:
  struct Known {
    Secret kind;
    std::string replacement;
  };
  void Put(const std::string& name, Secret kind, std::string replacement);
  void NumberHosts();
  void NumberUsers();
  size_t NumberOf(char kind, std::string_view text);

  std::set<std::string, std::less<>> hosts_, users_;
  std::unordered_map<std::string, Known> known_;
  std::map<std::string, std::string, std::less<>> in_paths_;
  std::vector<size_t> lengths_;                     // of known names, longest first
  std::vector<bool> starts_ = std::vector<bool>();  // by the first two bytes
  std::map<std::string, size_t, std::less<>> numbered_;
  std::map<char, size_t> next_;
};

}  // namespace debrief::redact
