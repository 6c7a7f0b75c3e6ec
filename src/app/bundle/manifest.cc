#include "app/bundle/manifest.h"

#include <fmt/format.h>

#include "base/json/writer.h"
#include "base/text/units.h"
#include "base/version.h"

namespace debrief::bundle {

namespace {

uint64_t SumOf(const redact::Counts& counts) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) sum += count;
  return sum;
}

uint64_t BytesOf(const Contents& contents) {
  uint64_t bytes = 0;
  for (const Member& member : contents.members) bytes += member.bytes;
  return bytes;
}

void WriteCounts(const redact::Counts& counts, JsonWriter& json) {
  json.Key("replaced").BeginObject();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) json.Field(redact::SecretName(static_cast<redact::Secret>(i)), counts[i]);
  }
  json.EndObject();
}

std::string CountsInWords(const redact::Counts& counts) {
  std::string words;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", counts[i],
                         redact::SecretName(static_cast<redact::Secret>(i)));
  }
  return words.empty() ? "nothing" : words;
}

}  // namespace

std::string ManifestJson(const Contents& contents, const Choice& choice) {
  std::string text;
  JsonWriter json(&text, 1);
  json.BeginObject().Field("schema", 1);
  json.Key("tool")
      .BeginObject()
      .Field("name", "debrief")
      .Field("version", std::string_view(kVersion));
  json.EndObject().Field("redacted", choice.redacts);
  WriteCounts(contents.replaced, json);
  json.Key("members").BeginArray();
  for (const Member& member : contents.members) {
    json.BeginObject()
        .Field("name", member.name)
        .Field("kind", member.kind)
        .Field("bytes", member.bytes);
    WriteCounts(member.replaced, json);
    json.EndObject();
  }
  json.EndArray().Key("left_out").BeginArray();
  for (const LeftOut& each : contents.left_out) {
    json.BeginObject().Field("name", each.name).Field("bytes", each.bytes).Field("why", each.why);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return text + "\n";
}

std::string ManifestText(const Contents& contents, const Choice& choice) {
  std::string text = "# What was replaced in this bundle\n\n";
  if (!choice.redacts) text += "Nothing: it was made with --no-redact. **It may hold secrets.**\n";
  if (choice.redacts) {
    text +=
        "Secrets are gone; names of hosts and users, addresses and e-mail addresses have others in "
        "their place, the same\neverywhere.\n\n| kind | replaced |\n|---|---|\n";
    for (size_t i = 0; i < contents.replaced.size(); ++i) {
      if (contents.replaced[i] > 0)
        text += fmt::format("| {} | {} |\n", redact::SecretName(static_cast<redact::Secret>(i)),
                            contents.replaced[i]);
    }
  }
  text += fmt::format("\n## {} files\n\n| file | kind | bytes | replaced |\n|---|---|---|---|\n",
                      contents.members.size());
  for (const Member& member : contents.members)
    text += fmt::format("| {} | {} | {} | {} |\n", member.name, member.kind, member.bytes,
                        SumOf(member.replaced));
  if (contents.left_out.empty()) return text;
  text += fmt::format("\n## {} left out\n\n| file | bytes | why |\n|---|---|---|\n",
                      contents.left_out.size());
  for (const LeftOut& each : contents.left_out)
    text += fmt::format("| {} | {} | {} |\n", each.name, each.bytes, each.why);
  return text;
}

std::string Summary(const Contents& contents, const Choice& choice, const std::string& output) {
  constexpr size_t kMostShown = 10;
  std::string text =
      fmt::format("wrote     {}: {} files, {} unpacked\n", output, contents.members.size(),
                  BytesText(static_cast<double>(BytesOf(contents))));
  text += fmt::format("replaced  {}\n",
                      choice.redacts ? CountsInWords(contents.replaced) : "nothing (--no-redact)");
  for (size_t i = 0; i < contents.left_out.size() && i < kMostShown; ++i)
    text += fmt::format("left out  {}: {}\n", contents.left_out[i].name, contents.left_out[i].why);
  if (contents.left_out.size() > kMostShown)
    text += fmt::format("left out  ... and {} more: debrief_bundle/REDACTED.md in it\n",
                        contents.left_out.size() - kMostShown);
  return text;
}

}  // namespace debrief::bundle
