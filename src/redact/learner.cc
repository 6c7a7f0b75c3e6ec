#include "redact/learner.h"

#include <fmt/format.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): memmem

#include <algorithm>
#include <array>

#include "base/text/newlines.h"
#include "base/text/scan.h"
#include "base/text/strings.h"
#include "torch/prefixes/line_prefix.h"

namespace debrief::redact {

namespace {

constexpr size_t kLongestName = 256;

bool IsHostByte(char c) { return IsWord(c) || c == '-' || c == '.'; }

// Calls `found` with the place behind each `word`.
template <typename Found>
void ForEach(std::string_view text, std::string_view word, Found found) {
  size_t at = 0;
  while (at < text.size()) {
    const void* hit = memmem(text.data() + at, text.size() - at, word.data(), word.size());
    if (hit == nullptr) return;
    at = static_cast<size_t>(static_cast<const char*>(hit) - text.data()) + word.size();
    found(at);
  }
}

std::string_view HostAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && end - at < kLongestName && IsHostByte(text[end])) ++end;
  return text.substr(at, end - at);
}

// The word that ends at `end`.
std::string_view HostBefore(std::string_view text, size_t end) {
  size_t begin = end;
  while (begin > 0 && end - begin < kLongestName && IsHostByte(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

bool IsAddress(std::string_view name) {
  return name.find_first_not_of("0123456789.") == std::string_view::npos;
}

// Behind a key: quotes, blanks and the sign, and the quote of the value. npos when no sign is
// there.
size_t BehindSign(std::string_view text, size_t at) {
  constexpr std::string_view kBlanks = " \t\"'\\";
  const size_t sign = text.find_first_not_of(kBlanks, at);
  const bool is_sign =
      sign != std::string_view::npos && sign - at < 32 && (text[sign] == '=' || text[sign] == ':');
  if (!is_sign || sign + 1 >= text.size()) return std::string_view::npos;
  return text.find_first_not_of(kBlanks, sign + 1);
}

// Of services that everybody uses: they say nothing of who ran the job.
bool IsPublicSite(std::string_view host) {
  constexpr std::array<std::string_view, 17> kSites = {
      "github.com", "pytorch.org",   "huggingface.co", "python.org",        "nvidia.com",
      "wandb.ai",   "pypi.org",      "googleapis.com", "google.com",        "readthedocs.io",
      "openai.com", "microsoft.com", "kernel.org",     "stackoverflow.com", "arxiv.org",
      "w3.org",     "slack.com"};
  return std::ranges::any_of(kSites, [&](std::string_view site) {
    return host.ends_with(site) &&
           (host.size() == site.size() || host[host.size() - site.size() - 1] == '.');
  });
}

bool HasDigit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// A dotted name ends with `top`: is it one of a machine? Attributes of objects have dots, too
// (self.cfg.local, block2.net), so names without a digit are believed where the top says enough.
bool IsMachineName(std::string_view name, std::string_view top) {
  constexpr std::array<std::string_view, 6> kTelling = {".internal", ".corp", ".lan",
                                                        ".intra",    ".hpc",  ".localdomain"};
  if (Contains(name, "_")) return false;
  if (std::ranges::find(kTelling, top) != kTelling.end()) return true;
  const std::string_view first = name.substr(0, name.find('.'));
  constexpr std::array<std::string_view, 4> kWordsToo = {".net", ".io", ".ai", ".dev"};
  const bool needs_more = std::ranges::find(kWordsToo, top) != kWordsToo.end();
  return (HasDigit(first) || Contains(first, "-")) &&
         (!needs_more || std::ranges::count(name, '.') >= 2);
}

}  // namespace

void Learner::Learn(std::string_view text) {
  UsersInPaths(text);
  Users(text);
  HostsOfNccl(text);
  HostsOfLaunchers(text);
  HostsOfKernel(text);
  HostsOfKeys(text);
  HostsOfAddresses(text);
  HostsOfDomains(text);
  HostsOfMarks(text);
}

// "worker-0: text" of pdsh, "[pod/job-worker-1/pytorch] text" of kubectl.
void Learner::HostsOfMarks(std::string_view text) {
  constexpr size_t kHead = 64 << 10;
  const PrefixStyle style = DetectPrefixStyle(text.substr(0, kHead));
  if (!style.hosts && !Contains(text.substr(0, kHead), "[pod/")) return;
  LineSplitter lines(text);
  for (std::string_view line; lines.Next(line);) {
    const std::string_view host = PeelPrefixes(line.substr(0, 512), style).host;
    if (!host.empty() && !IsAddress(host)) names_.AddHost(host);
  }
}

void Learner::UsersInPaths(std::string_view text) {
  const auto add = [&](size_t at) {
    const std::string_view rest = text.substr(at, kLongestName);
    names_.AddUser(rest.substr(0, rest.find_first_of("/\\\"' \t\r\n:,;)>]}|")));
  };
  for (std::string_view home : {"/home/", "/Users/", "/users/", "\\/home\\/", "\\/Users\\/",
                                "\\Users\\", "\\\\Users\\\\", "torchinductor_"})
    ForEach(text, home, add);
}

void Learner::Users(std::string_view text) {
  for (std::string_view key : {"USER", "LOGNAME", "USERNAME", "\"user\"", "'user'", "\"username\"",
                               "user_name", "userName", "JOB_USER", "Submitter"}) {
    ForEach(text, key, [&](size_t at) {
      if (at < text.size() && IsWord(text[at])) return;
      const size_t value = BehindSign(text, at);
      if (value == std::string_view::npos) return;
      const std::string_view name = HostAt(text, value);
      if (!name.empty() && !IsDigit(name[0])) names_.AddUser(name);
    });
  }
  for (std::string_view key : {" user=", " username=", " login=", "&user=", "?user="})
    ForEach(text, key, [&](size_t at) { names_.AddUser(HostAt(text, at)); });
  ForEach(text, "uid=", [&](size_t at) {
    const size_t open = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (open > at && open < text.size() && text[open] == '(')
      names_.AddUser(HostAt(text, open + 1));
  });
}

// node07:4711:4812 [0] NCCL INFO
void Learner::HostsOfNccl(std::string_view text) {
  ForEach(text, " NCCL ", [&](size_t at) {
    const size_t least = at - std::min<size_t>(at, 2 * kLongestName);
    std::string_view head = text.substr(least, at - least);
    head.remove_prefix(head.rfind('\n') + 1);
    for (size_t colon = head.find(':'); colon != std::string_view::npos;
         colon = head.find(':', colon + 1)) {
      const std::string_view pid = HostAt(head, colon + 1);
      const size_t next = colon + 1 + pid.size();
      if (!IsAllDigits(pid) || next >= head.size() || head[next] != ':') continue;
      if (IsAllDigits(HostAt(head, next + 1))) names_.AddHost(HostBefore(head, colon), true);
    }
  });
}

void Learner::HostsOfLaunchers(std::string_view text) {
  for (std::string_view mark :
       {"srun: error: ", " ON ", "on node ", "on host ", "from host ", "Node ",
        "node=", "nodename ", "Nodename: ", "hostname: ", "pod/"}) {
    ForEach(text, mark, [&](size_t at) {
      const std::string_view name = HostAt(text, at);
      const bool is_told_apart = name.find_first_of("0123456789") != std::string_view::npos;
      if (is_told_apart && !IsAddress(name)) names_.AddHost(name);
    });
  }
}

// Nov 15 02:42:35 node07 kernel: NVRM: Xid
void Learner::HostsOfKernel(std::string_view text) {
  for (std::string_view mark : {" kernel: ", " systemd[", " slurmd[", " slurmstepd["}) {
    ForEach(text, mark, [&](size_t at) {
      const std::string_view name = HostBefore(text, at - mark.size());
      const std::string_view before = text.substr(0, at - mark.size() - name.size());
      const bool follows_time =
          before.size() > 4 && before.ends_with(' ') && IsDigit(before[before.size() - 2]) &&
          Contains(before.substr(before.size() - std::min<size_t>(before.size(), 20)), ":");
      if (follows_time) names_.AddHost(name, true);
    });
  }
}

// node[01-04,07] of Slurm, and lists with commas.
void Learner::AddHostList(std::string_view list, bool is_certain) {
  constexpr int64_t kMostHosts = 65536;
  const size_t open = list.find('['), close = list.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    const std::string_view name = HostAt(list, 0);
    if (!name.empty() && !IsAddress(name)) names_.AddHost(name, is_certain || HasDigit(name));
    return;
  }
  names_.AddHost(list.substr(0, close + 1));
  std::string_view ranges = list.substr(open + 1, close - open - 1);
  while (!ranges.empty()) {
    const std::string_view range = ranges.substr(0, ranges.find(','));
    ranges.remove_prefix(std::min(ranges.size(), range.size() + 1));
    const std::string_view low = range.substr(0, range.find('-'));
    const std::string_view high = range.size() == low.size() ? low : range.substr(low.size() + 1);
    const auto first = ParseNumber<int64_t>(low), last = ParseNumber<int64_t>(high);
    if (!first || !last || *last - *first > kMostHosts) continue;
    for (int64_t number = *first; number <= *last; ++number)
      names_.AddHost(fmt::format("{}{:0{}}", list.substr(0, open), number, low.size()));
  }
}

void Learner::HostsOfKeys(std::string_view text) {
  for (std::string_view key :
       {"host",      "HOST",        "hostname",    "HOSTNAME",  "Hostname",   "nodename",
        "NODENAME",  "nodeName",    "node_name",   "NODELIST",  "nodelist",   "NodeList",
        "BatchHost", "MASTER_ADDR", "master_addr", "endpoint",  "ENDPOINT",   "pod_name",
        "POD_NAME",  "machine",     "node_id",     "NODE_NAME", "server_name"}) {
    ForEach(text, key, [&](size_t at) {
      if (at < text.size() && IsWord(text[at])) return;
      const size_t value = BehindSign(text, at);
      if (value == std::string_view::npos) return;
      const std::string_view line = text.substr(value, 4096);
      const bool is_certain = key != "host" && key != "HOST" && key != "endpoint" &&
                              key != "ENDPOINT" && key != "machine";
      AddHostList(line.substr(0, line.find_first_of(" \t\r\n\"'<>(){}/")), is_certain);
    });
  }
}

void Learner::HostsOfAddresses(std::string_view text) {
  ForEach(text, "://", [&](size_t at) {
    std::string_view authority = text.substr(at, 512);
    authority = authority.substr(0, authority.find_first_of("/?# \t\r\n\"'<>\\"));
    authority.remove_prefix(authority.rfind('@') + 1);
    const std::string_view host = HostAt(authority, 0);
    if (!host.empty() && !IsAddress(host) && !IsPublicSite(host)) names_.AddHost(host);
  });
}

// Names that only machines have: gpu7.corp.internal, ip-10-0-1-2.
void Learner::HostsOfDomains(std::string_view text) {
  for (std::string_view top :
       {".internal", ".local",   ".lan", ".corp", ".intra", ".localdomain", ".cluster",
        ".hpc",      ".private", ".svc", ".edu",  ".gov",   ".com",         ".org",
        ".example",  ".cloud",   ".net", ".io",   ".ai",    ".dev"}) {
    ForEach(text, top, [&](size_t at) {
      const bool goes_on = at + 1 < text.size() && text[at] == '.' && IsWord(text[at + 1]);
      if (at < text.size() && (IsWord(text[at]) || text[at] == '-' || goes_on)) return;
      std::string_view name = HostBefore(text, at);
      while (!name.empty() && !IsWord(name[0])) name.remove_prefix(1);
      const bool is_mail = name.size() < at && text[at - name.size() - 1] == '@';
      if (IsMachineName(name, top) && !is_mail && !IsPublicSite(name)) names_.AddHost(name);
    });
  }
  ForEach(text, "ip-", [&](size_t at) {
    const std::string_view name = HostAt(text, at - 3);
    if (std::ranges::count(name, '-') >= 4 && at < text.size() && IsDigit(text[at]))
      names_.AddHost(name);
  });
}

}  // namespace debrief::redact
