#include "outputs/findings_reader.h"

#include <fmt/format.h>

#include <limits>

#include "base/bytes/source.h"
#include "base/json/cursor.h"
#include "outputs/run_json.h"

namespace debrief {

namespace {

std::string TextOf(JsonValue value) { return std::string(value.String().value_or("")); }

int32_t SmallOf(JsonValue value) {
  int64_t number = value.Int().value_or(kNone64);
  bool fits = number >= 0 && number <= std::numeric_limits<int32_t>::max();
  return fits ? static_cast<int32_t>(number) : kNone32;
}

Severity SeverityOf(std::string_view name) {
  if (name == "error") return Severity::kError;
  return name == "warning" ? Severity::kWarning : Severity::kInfo;
}

Role RoleOf(std::string_view name) {
  if (name == "cause") return Role::kCause;
  return name == "consequence" ? Role::kConsequence : Role::kObservation;
}

Status ReadRanks(JsonValue value, std::vector<int32_t>& ranks) {
  return value.ForEachElement([&](JsonValue rank) { ranks.push_back(SmallOf(rank)); });
}

Status ReadTexts(JsonValue value, std::vector<std::string>& texts) {
  return value.ForEachElement([&](JsonValue text) { texts.push_back(TextOf(text)); });
}

Status ReadGroups(JsonValue value, std::vector<GroupRef>& groups) {
  return value.ForEachElement([&](JsonValue element) {
    GroupRef& group = groups.emplace_back();
    return element.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "name") group.name = TextOf(field);
      if (key == "desc") group.desc = TextOf(field);
      return key == "ranks" ? ReadRanks(field, group.ranks) : Status();
    });
  });
}

Status ReadSource(JsonValue value, std::vector<SourceLine>& lines) {
  return value.ForEachElement([&](JsonValue element) {
    SourceLine& line = lines.emplace_back();
    return element.ForEachField([&](std::string_view key, JsonValue field) {
      if (key == "rank") line.rank = SmallOf(field);
      if (key == "file") line.file = TextOf(field);
      if (key == "line") line.line = field.Int().value_or(0);
    });
  });
}

Status ReadEvidence(JsonValue value, std::vector<Evidence>& all) {
  return value.ForEachElement([&](JsonValue element) {
    Evidence& evidence = all.emplace_back();
    return element.ForEachField([&](std::string_view key, JsonValue field) -> Status {
      if (key == "text") evidence.text = TextOf(field);
      if (key == "table") evidence.table = TextOf(field);
      if (key != "rows") return {};
      return field.ForEachElement(
          [&](JsonValue row) { evidence.rows.push_back(row.Int().value_or(kNone64)); });
    });
  });
}

// The fields that are one text or one number.
void ReadScalar(std::string_view key, JsonValue value, Finding& finding) {
  if (key == "id") finding.id = TextOf(value);
  if (key == "rule") finding.rule = TextOf(value);
  if (key == "severity") finding.severity = SeverityOf(TextOf(value));
  if (key == "role") finding.role = RoleOf(TextOf(value));
  if (key == "headline") finding.headline = TextOf(value);
  if (key == "job") finding.job = SmallOf(value);
  if (key == "attempt") finding.attempt = SmallOf(value);
  if (key == "op") finding.op = TextOf(value);
  if (key == "seq") finding.seq = value.Int().value_or(kNone64);
  if (key == "confidence") finding.confidence = value.Double().value_or(kNoDouble);
  if (key == "why") finding.why = TextOf(value);
  if (key == "next_step") finding.next_step = TextOf(value);
}

class FindingsParser {
 public:
  Status Read(JsonValue root) {
    return root.ForEachField([&](std::string_view key, JsonValue value) -> Status {
      if (key == "schema") written_.schema = value.Int().value_or(kNone64);
      if (key == "tool") {
        return value.ForEachField([&](std::string_view name, JsonValue field) {
          if (name == "version") written_.version = TextOf(field);
        });
      }
      if (key == "jobs")
        return value.ForEachElement([&](JsonValue element) { return ReadJob(element); });
      if (key == "findings")
        return value.ForEachElement([&](JsonValue element) { return ReadFinding(element); });
      return {};
    });
  }

  WrittenFindings Take() {
    std::map<std::string_view, size_t> place;
    for (size_t i = 0; i < written_.findings.size(); ++i) place[written_.findings[i].id] = i;
    for (size_t i = 0; i < written_.findings.size(); ++i) {
      for (const std::string& id : explained_ids_[i]) {
        auto found = place.find(id);
        if (found != place.end()) written_.findings[i].explains.push_back(found->second);
      }
    }
    return std::move(written_);
  }

 private:
  Status ReadFinding(JsonValue element) {
    Finding& finding = written_.findings.emplace_back();
    std::vector<std::string>& explained = explained_ids_.emplace_back();
    return element.ForEachField([&](std::string_view key, JsonValue value) -> Status {
      if (key == "ranks") return ReadRanks(value, finding.ranks);
      if (key == "groups") return ReadGroups(value, finding.groups);
      if (key == "compile_ids") return ReadTexts(value, finding.compile_ids);
      if (key == "source") return ReadSource(value, finding.source);
      if (key == "evidence") return ReadEvidence(value, finding.evidence);
      if (key == "explains") return ReadTexts(value, explained);
      ReadScalar(key, value, finding);
      return {};
    });
  }

  Status ReadJob(JsonValue element) {
    int32_t job = kNone32;
    std::string name;
    TRY(element.ForEachField([&](std::string_view key, JsonValue value) {
      if (key == "job") job = SmallOf(value);
      if (key == "name") name = TextOf(value);
    }));
    written_.jobs[job] = std::move(name);
    return {};
  }

  WrittenFindings written_;
  std::vector<std::vector<std::string>> explained_ids_;  // by finding
};

}  // namespace

Result<WrittenFindings> ReadFindings(const std::string& folder) {
  std::string path = folder + "/findings.json";
  auto source = OpenFileSource(path);
  if (!source.ok()) {
    if (source.status().code() != Code::kNotFound) return source.status();
    return Status(Code::kNotFound, fmt::format("there is no {}", path))
        .Remedy("Name a folder that debrief wrote.");
  }
  ASSIGN_OR_RETURN(ByteView text, source.value()->View(0, source.value()->size()));
  JsonReader json;
  FindingsParser parser;
  Status status = json.Open(text.text());
  if (status.ok()) status = parser.Read(json.root());
  if (!status.ok()) return std::move(status).At({.file = path});
  WrittenFindings written = parser.Take();
  if (written.schema == kFindingsSchema) return written;
  return Status(written.schema == kNone64 ? Code::kInvalid : Code::kUnsupported,
                written.schema == kNone64 ? "this is no findings.json of debrief"
                                          : "it was written by another version of debrief")
      .At({.file = path})
      .Remedy("Run debrief on the inputs again.");
}

}  // namespace debrief
