#include "redact/tokens.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text/scan.h"

namespace debrief::redact {

namespace {

enum class Bytes : uint8_t { kWord, kDash, kDot, kHex, kUpper, kPath };

struct Beginning {
  std::string_view text;
  size_t least;  // bytes behind it, at least
  Bytes bytes;
  bool stays = false;
};

// In order of the first byte.
constexpr auto kBeginnings = std::to_array<Beginning>({
    {"ABIA", 12, Bytes::kUpper},
    {"ACCA", 12, Bytes::kUpper},
    {"AGE-SECRET-KEY-1", 20, Bytes::kWord},
    {"AIDA", 12, Bytes::kUpper},
    {"AIza", 30, Bytes::kDash},
    {"AKIA", 12, Bytes::kUpper},
    {"AROA", 12, Bytes::kUpper},
    {"ASIA", 12, Bytes::kUpper},
    {"ATATT3", 16, Bytes::kDash},
    {"CFPAT-", 16, Bytes::kDash},
    {"GOCSPX-", 16, Bytes::kDash},
    {"SG.", 20, Bytes::kDot},
    {"SK", 32, Bytes::kHex},
    {"api_org_", 16, Bytes::kWord},
    {"csk-", 16, Bytes::kDash},
    {"dapi", 32, Bytes::kHex},
    {"dckr_pat_", 16, Bytes::kDash},
    {"discord.com/api/webhooks/", 10, Bytes::kPath, true},
    {"discordapp.com/api/webhooks/", 10, Bytes::kPath, true},
    {"dop_v1_", 20, Bytes::kWord},
    {"esecret_", 16, Bytes::kWord},
    {"fw_", 20, Bytes::kWord},
    {"ghp_", 16, Bytes::kWord},
    {"gho_", 16, Bytes::kWord},
    {"ghu_", 16, Bytes::kWord},
    {"ghs_", 16, Bytes::kWord},
    {"ghr_", 16, Bytes::kWord},
    {"github_pat_", 16, Bytes::kWord},
    {"glc_", 20, Bytes::kDash},
    {"gldt-", 16, Bytes::kDash},
    {"glpat-", 16, Bytes::kDot},
    {"glrt-", 16, Bytes::kDash},
    {"glsa_", 16, Bytes::kWord},
    {"gsk_", 16, Bytes::kWord},
    {"hf_", 16, Bytes::kWord},
    {"hooks.slack.com/services/", 10, Bytes::kPath, true},
    {"hvb.", 16, Bytes::kDot},
    {"hvs.", 16, Bytes::kDot},
    {"lin_api_", 16, Bytes::kWord},
    {"local-", 40, Bytes::kHex},
    {"npm_", 20, Bytes::kWord},
    {"ntn_", 20, Bytes::kWord},
    {"nvapi-", 16, Bytes::kDash},
    {"pplx-", 16, Bytes::kDash},
    {"pypi-", 20, Bytes::kDash},
    {"r8_", 20, Bytes::kWord},
    {"rk_live_", 10, Bytes::kWord},
    {"rpa_", 20, Bytes::kWord},
    {"sbp_", 30, Bytes::kWord},
    {"shpat_", 16, Bytes::kWord},
    {"sk-", 16, Bytes::kDash},
    {"sk_live_", 10, Bytes::kWord},
    {"sk_test_", 10, Bytes::kWord},
    {"tgp_v1_", 16, Bytes::kDash},
    {"wandb_v1_", 16, Bytes::kWord},
    {"whsec_", 16, Bytes::kDash},
    {"xai-", 20, Bytes::kDash},
    {"xapp-", 10, Bytes::kDash},
    {"xoxa-", 10, Bytes::kDash},
    {"xoxb-", 10, Bytes::kDash},
    {"xoxe-", 10, Bytes::kDash},
    {"xoxe.", 10, Bytes::kDot},
    {"xoxp-", 10, Bytes::kDash},
    {"xoxr-", 10, Bytes::kDash},
    {"xoxs-", 10, Bytes::kDash},
    {"ya29.", 20, Bytes::kDot},
});

bool IsOf(Bytes bytes, char c) {
  switch (bytes) {
    case Bytes::kWord:
      return IsWord(c);
    case Bytes::kDash:
      return IsWord(c) || c == '-';
    case Bytes::kDot:
      return IsWord(c) || c == '-' || c == '.';
    case Bytes::kHex:
      return IsDigit(c) || (c >= 'a' && c <= 'f');
    case Bytes::kUpper:
      return IsDigit(c) || (c >= 'A' && c <= 'Z');
    case Bytes::kPath:
      return IsWord(c) || c == '-' || c == '/';
  }
  return false;
}

size_t RunOf(std::string_view text, Bytes bytes) {
  size_t run = 0;
  while (run < text.size() && IsOf(bytes, text[run])) ++run;
  return run;
}

// eyJ<header>.<claims>.<signature>, all base64 for addresses; both of the first begin with {".
size_t WebTokenAt(std::string_view text) {
  if (!text.starts_with("eyJ")) return 0;
  constexpr size_t kLongestHeader = 2048;
  size_t length = RunOf(text.substr(0, kLongestHeader), Bytes::kDash);
  if (length < 10 || length + 8 > text.size() || text[length] != '.') return 0;
  const size_t claims = RunOf(text.substr(length + 1), Bytes::kDash);
  if (claims < 6) return 0;
  length += 1 + claims;
  if (length < text.size() && text[length] == '.')
    length += 1 + RunOf(text.substr(length + 1), Bytes::kDash);
  return length;
}

constexpr std::array<bool, 256> MakeFirstBytes() {
  std::array<bool, 256> first{};
  for (const Beginning& each : kBeginnings) first[static_cast<uint8_t>(each.text[0])] = true;
  first['e'] = true;
  return first;
}
constexpr std::array<bool, 256> kFirstBytes = MakeFirstBytes();

}  // namespace

bool MayBeginToken(char c) { return kFirstBytes[static_cast<uint8_t>(c)]; }

bool IsTokenByte(char c) {
  return IsWord(c) || c == '-' || c == '.' || c == '+' || c == '/' || c == '=' || c == '~';
}

Token TokenAt(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.empty() || !MayBeginToken(rest[0])) return {};
  if (const size_t length = WebTokenAt(rest); length > 0) return {0, length};
  for (const Beginning& each : kBeginnings) {
    if (each.text[0] != rest[0] || !rest.starts_with(each.text)) continue;
    const size_t run = RunOf(rest.substr(each.text.size()), each.bytes);
    if (run >= each.least) return {each.stays ? each.text.size() : 0, each.text.size() + run};
  }
  return {};
}

}  // namespace debrief::redact
