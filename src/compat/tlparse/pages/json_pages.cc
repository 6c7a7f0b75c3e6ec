// Pages of payloads that are JSON: guards, and the stacks of kernels. Read once, front to back;
// whatever is not there or has another type is left out.
#include <map>
#include <vector>

#include "base/bytes/source.h"
#include "base/json/cursor.h"
#include "compat/tlparse/pages/pages.h"
#include "compat/tlparse/pages/shell.h"
#include "model/compile/frames.h"

namespace debrief::outputs::tlparse_tree {

namespace {

Status Open(JsonReader& reader, std::string& payload) {
  payload.reserve(payload.size() + kPadding);
  return reader.Open(payload);
}

struct Guards {
  const PageContext& context;
  size_t row;  // of compile_entry: their frames name files by numbers of its string table
};

// {"line": 3, "name": "f", "filename": 7, "loc": "x = 1"}; 7 is a number of the string table.
Status AppendFrame(const Guards& guards, JsonValue frame, std::string& out) {
  std::string name, file, text;
  int64_t line = 0;
  TRY(frame.ForEachField([&](std::string_view key, JsonValue value) {
    if (key == "name") name = value.String().value_or("");
    if (key == "loc") text = value.String().value_or("");
    if (key == "line") line = value.Int().value_or(0);
    if (key == "uninterned_filename") file = value.String().value_or("");
    if (key == "filename" && file.empty()) {
      file = guards.context.InternedText(guards.row, value.Int().value_or(-1));
    }
  }));
  Put(out, "<li>{}:{} in {}", ShortPath(file), line, name);
  if (!text.empty()) Put(out, "<i>{}</i>", text);
  out += "</li>\n";
  return {};
}

Status AppendFrames(const Guards& guards, std::string_view caption, JsonValue stack,
                    std::string& out) {
  if (stack.kind() != JsonKind::kArray) return {};
  Put(out, "<details><summary class=\"quiet\">{}</summary><ol class=\"stack\">\n", caption);
  TRY(stack.ForEachElement([&](JsonValue frame) { return AppendFrame(guards, frame, out); }));
  out += "</ol></details>";
  return {};
}

Status AppendGuard(const Guards& guards, JsonValue guard, std::string& out) {
  out += "<li>";
  TRY(guard.ForEachField([&](std::string_view key, JsonValue value) -> Status {
    if (key == "code") Put(out, "<code>{}</code>", value.String().value_or("(no text)"));
    if (key == "user_stack") return AppendFrames(guards, "User stack", value, out);
    if (key == "stack") return AppendFrames(guards, "Framework stack", value, out);
    return {};
  }));
  out += "</li>\n";
  return {};
}

Status AppendGuards(const Guards& guards, std::string& payload, std::string& out) {
  JsonReader reader;
  TRY(Open(reader, payload));
  return reader.root().ForEachElement(
      [&](JsonValue guard) { return AppendGuard(guards, guard, out); });
}

// "\\n" in these stacks is a backslash and an n: they were escaped twice.
std::string WithLineEnds(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool escaped = text[at] == '\\' && at + 1 < text.size() && text[at + 1] == 'n';
    result += escaped ? '\n' : text[at];
    if (escaped) ++at;
  }
  while (result.ends_with('\n')) result.pop_back();
  return result;
}

}  // namespace

Status ReadKernels(std::string& payload, Kernels& kernels) {
  JsonReader reader;
  TRY(Open(reader, payload));
  return reader.root().ForEachField([&](std::string_view key, JsonValue value) {
    std::vector<std::string>& stacks = kernels[std::string(key)];
    stacks.clear();  // of a kernel that comes twice, the last counts
    return value.ForEachElement([&](JsonValue stack) -> Status {
      auto text = stack.String();
      if (!text) return Status(Code::kInvalid, "a stack is no text");
      stacks.push_back(WithLineEnds(*text));
      return {};
    });
  });
}

std::string GuardsPage(const PageContext& context, const TreeFile& file, std::string& payload) {
  std::string list;
  const Status status = AppendGuards({context, file.row}, payload, list);
  const std::string root = WayToRoot(file.path), links = FileLinks(context, file);
  std::string out = BeginPage(
      {.title = "Guards", .root = root, .anchor = context.AnchorOf(file), .links = links});
  out += "<main><h1>Guards</h1>\n<section>";
  if (!status.ok()) {
    Put(out,
        "<p>The guards are no list in JSON, and are shown as they were logged.</p><pre>{}</pre>",
        payload);
  } else if (list.empty()) {
    out += "<p>No guards.</p>";
  } else {
    out += "<ul class=\"rows\">\n" + list + "</ul>";
  }
  out += "</section></main>\n";
  return EndPage(PageKind::kPlain, std::move(out));
}

std::string KernelStacksPage(const PageContext& context, const TreeFile& file,
                             std::string& payload) {
  Kernels kernels;
  if (!ReadKernels(payload, kernels).ok()) return {};
  const std::string root = WayToRoot(file.path), links = FileLinks(context, file);
  std::string out = BeginPage({.title = "Kernel stack traces",
                               .root = root,
                               .anchor = context.AnchorOf(file),
                               .links = links});
  out += "<main><h1>Kernel stack traces</h1>\n";
  for (const auto& [kernel, stacks] : kernels) {
    Put(out, "<section><h3>{}</h3>", kernel);
    for (const std::string& stack : stacks) Put(out, "<pre>{}</pre>", stack);
    out += "</section>\n";
  }
  out += "</main>\n";
  return EndPage(PageKind::kPlain, std::move(out));
}

}  // namespace debrief::outputs::tlparse_tree
