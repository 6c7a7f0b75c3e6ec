#include "inputs/job_text/lines/pod_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/strings.h"

namespace debrief::inputs::job_text {

namespace {

// kubectl sets columns apart by two blanks at least; what stands in one has single ones.
std::vector<std::string_view> ColumnsOf(std::string_view text) {
  std::vector<std::string_view> columns;
  while (!(text = Trimmed(text, " ")).empty()) {
    const size_t end = std::min(text.find("  "), text.size());
    columns.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return columns;
}

// "0/2": of two containers none is ready.
bool IsReadiness(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find_first_not_of("0123456789/") == std::string_view::npos;
}

bool IsBadStatus(std::string_view status) {
  constexpr std::string_view kStatuses[] = {"Error",
                                            "OOMKilled",
                                            "CrashLoopBackOff",
                                            "ImagePullBackOff",
                                            "ErrImagePull",
                                            "Evicted",
                                            "CreateContainerConfigError",
                                            "CreateContainerError",
                                            "RunContainerError",
                                            "ContainerCannotRun",
                                            "InvalidImageName",
                                            "DeadlineExceeded",
                                            "StartError",
                                            "ContainerStatusUnknown"};
  if (status.starts_with("Init:")) status.remove_prefix(5);
  return std::ranges::find(kStatuses, status) != std::end(kStatuses);
}

bool IsEventRow(const std::vector<std::string_view>& columns) {
  constexpr size_t kTypeAt = 2;  // LAST SEEN stands before it, or nothing
  return columns.size() >= 4 &&
         std::ranges::any_of(std::span(columns).first(kTypeAt),
                             [](auto word) { return word == "Warning" || word == "Normal"; });
}

// "8 Insufficient nvidia.com/gpu" of "0/9 nodes are available: 1 node(s) had ..., 8 Insufficient
// nvidia.com/gpu. preemption: ...".
std::string_view LackIn(std::string_view message) {
  constexpr std::string_view kLack = " Insufficient ";
  const size_t lack = message.find(kLack);
  if (lack == std::string_view::npos) return message;
  const size_t before = message.find_last_of(",:", lack);
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  const size_t end = std::min(message.find_first_of(" ,", lack + kLack.size()), message.size());
  return Trimmed(message.substr(begin, end - begin), " .");
}

}  // namespace

std::string TroubleOfPod(std::string_view text) {
  // Few lines get further than this.
  const size_t gap = text.find("  ");
  if (gap == std::string_view::npos || gap != text.find(' ')) return {};
  const std::string_view rest = Trimmed(text.substr(gap), " ");
  if (!IsReadiness(rest.substr(0, rest.find(' ')))) return {};
  const std::vector<std::string_view> columns = ColumnsOf(text);
  const bool row = columns.size() >= 4 && IsBadStatus(columns[2]);
  return row ? fmt::format("pod {}: {}", columns[0], columns[2]) : std::string();
}

PodEvent PodEventOf(std::string_view text) {
  constexpr std::string_view kGood[] = {"Successfully assigned", "Started container",
                                        "Successfully pulled"};
  constexpr std::string_view kBad[] = {"FailedScheduling", "Failed to pull image", "FailedMount",
                                       "FailedCreatePodSandBox"};
  const bool good = ContainsAny(text, kGood);
  if ((!good && !ContainsAny(text, kBad)) || !IsEventRow(ColumnsOf(text))) return PodEvent::kNone;
  return good ? PodEvent::kGoesOn : PodEvent::kDoesNotStart;
}

std::string WordsOfPodEvent(std::string_view text, std::string_view pod) {
  constexpr std::string_view kPod = "pod/";
  const std::vector<std::string_view> columns = ColumnsOf(text);
  for (const std::string_view column : columns) {
    if (column.starts_with(kPod)) pod = column.substr(kPod.size());
  }
  const std::string who = pod.empty() ? "pod" : fmt::format("pod {}", pod);
  if (Contains(text, "FailedScheduling"))
    return fmt::format("{} is not scheduled: {}", who, LackIn(columns.back()));
  // Failed to pull image "reg/train:9": rpc error: ...
  return fmt::format("{}: {}", who, columns.back().substr(0, columns.back().find("\": ") + 1));
}

}  // namespace debrief::inputs::job_text
