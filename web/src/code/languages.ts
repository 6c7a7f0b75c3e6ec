// Which words of a text are of what kind. Texts that are too large are shown without: finding out what the last
// line is made of would need all lines before it.
import { cpp } from "@codemirror/lang-cpp";
import { StreamLanguage } from "@codemirror/language";
import { python } from "@codemirror/lang-python";
import type { Extension } from "@codemirror/state";
import type { Language } from "../run/texts";

const largest = 6e6; // characters

const json = StreamLanguage.define<null>({
  name: "json",
  startState: () => null,
  token(stream) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"(?=\s*:)/)) return "propertyName";
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return "string";
    if (stream.match(/^-?\d[\d.eE+-]*/)) return "number";
    if (stream.match(/^(?:true|false|null)\b/)) return "atom";
    stream.next();
    return null;
  },
});

export function languageExtension(language: Language, length: number): Extension {
  if (length > largest || language === "text") return [];
  if (language === "python") return python();
  return language === "cpp" ? cpp() : json;
}
