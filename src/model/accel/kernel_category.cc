#include "model/accel/kernel_category.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/text/strings.h"

namespace debrief::accel {

namespace {

using Where = CategoryRule::Where;

// A name of a megabyte is no better known by its end than by its beginning.
constexpr size_t kMostBytes = 16 * 1024;

std::string Lower(std::string_view text) {
  std::string lower(text.substr(0, kMostBytes));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

// Vendors whose kernels have names of their own kind: PyTorch's own do not run there.
bool IsSelfContained(std::string_view vendor) { return vendor == "aiu" || vendor == "mtia"; }

bool IsAsked(std::string_view of_rules, std::string_view vendor) {
  if (of_rules == "common") return !IsSelfContained(vendor);
  return vendor.empty() ? !IsSelfContained(of_rules) : of_rules == vendor;
}

// The vendor's own files first, then what is common.
std::string_view FirstFit(std::string_view vendor, Where where, std::string_view text) {
  if (text.empty()) return {};
  for (bool common : {false, true}) {
    for (const CategoryRules& file : AllCategoryRules()) {
      if ((file.vendor == "common") != common || !IsAsked(file.vendor, vendor)) continue;
      for (const CategoryRule& rule : file.rules) {
        if (rule.where == where && FitsPattern(rule.pattern, text)) return rule.category;
      }
    }
  }
  return {};
}

}  // namespace

bool FitsPattern(std::string_view pattern, std::string_view text) {
  size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  while ((star = pattern.find('*')) != std::string_view::npos) {
    size_t found = text.find(pattern.substr(0, star));
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + star);
    pattern.remove_prefix(star + 1);
  }
  return text.ends_with(pattern);
}

std::string_view VendorOfDevice(std::string_view device) {
  static constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"nvidia", "cuda"}, {"tesla", "cuda"},    {"geforce", "cuda"}, {"quadro", "cuda"},
      {"amd", "rocm"},    {"instinct", "rocm"}, {"radeon", "rocm"},  {"intel", "xpu"},
      {"aiu", "aiu"},     {"spyre", "aiu"},     {"mtia", "mtia"},    {"artemis", "mtia"}};
  std::string lower = Lower(device);
  for (const auto& [word, vendor] : kWords) {
    if (Contains(lower, word)) return vendor;
  }
  return {};
}

std::string_view VendorOfCall(std::string_view call) {
  if (call.starts_with("cuda") || call.starts_with("cuLaunch")) return "cuda";
  if (call.starts_with("hip")) return "rocm";
  if (call.starts_with("aiu")) return "aiu";
  bool is_level_zero = call.starts_with("zeCommand") || call.starts_with("urEnqueue");
  return is_level_zero || call.starts_with("sycl") ? "xpu" : "";
}

std::string_view CategoryOf(std::string_view vendor, std::string_view kernel, std::string_view op) {
  std::string_view category = FirstFit(vendor, Where::kKernel, Lower(kernel));
  if (category.empty()) category = FirstFit(vendor, Where::kOp, Lower(op));
  return category.empty() ? kOtherCategory : category;
}

std::string_view CategoryCache::Of(StringId kernel, StringId op) {
  uint64_t key = uint64_t{static_cast<uint32_t>(kernel)} << 32 | static_cast<uint32_t>(op);
  auto [found, is_new] = known_.try_emplace(key);
  if (is_new) found->second = CategoryOf(vendor_, pools_.Text(kernel), pools_.Text(op));
  return found->second;
}

}  // namespace debrief::accel
