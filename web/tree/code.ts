// Colours for generated code, Python or C++: only for the parts (200 lines each) that come into view, line
// by line. Triple quotes are no strings here: in Inductor's output they hold kernels, and code is what one
// wants to read in them. No state is carried from line to line, so a part can be coloured on its own.
import "./links";

const languages: Record<string, { words: string; comment: string }> = {
  py: {
    words:
      "and as assert async await break class continue def del elif else except finally for from global if import in is lambda None nonlocal not or pass raise return True False try while with yield",
    comment: "#.*",
  },
  cpp: {
    words:
      "auto bool break case char class const constexpr continue default delete do double else enum extern false float for if inline int int32_t int64_t long namespace new nullptr operator private public return size_t static static_cast struct switch template this true typename uint32_t uint64_t uint8_t union unsigned using virtual void while",
    comment: "//.*|/\\*.*?(?:\\*/|$)|^\\s*\\*.*",
  },
};
const longest = 4000; // characters of a line that is still coloured

const code = document.querySelector<HTMLElement>(".code");
const language = languages[code?.dataset["lang"] ?? ""];

function tokens(words: string, comment: string): RegExp {
  const text = `(?:[rbfuLR]{1,2})?(?:"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')`;
  return new RegExp(
    `(?<c>${comment})|'''|"""|(?<s>${text})|(?<d>@[\\w.]+|\\b\\d[\\w.]*)|(?<k>\\b(?:${words.replace(/ /g, "|")})\\b)|(?<f>\\b\\w+(?=\\())|\\w+`,
    "g",
  );
}

function colourLine(line: Element, pattern: RegExp): void {
  const text = line.textContent ?? "";
  if (text.length > longest) return;
  const parts: (Node | string)[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    const kind = Object.entries(match.groups ?? {}).find((group) => group[1] !== undefined)?.[0];
    if (!kind) continue;
    parts.push(text.slice(end, match.index));
    const piece = document.createElement("span");
    piece.className = kind;
    piece.textContent = match[0];
    parts.push(piece);
    end = match.index + match[0].length;
  }
  if (end > 0) line.replaceChildren(...parts, text.slice(end));
}

if (code && language) {
  const pattern = tokens(language.words, language.comment);
  const observer = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        for (const line of target.children) colourLine(line, pattern);
      }
    },
    { rootMargin: "800px 0px" },
  );
  for (const part of code.children) observer.observe(part);
}

// A click on a line's number puts it into the address.
code?.addEventListener("click", (event) => {
  const line = event.target as HTMLElement;
  if (line.id && event.clientX - code.getBoundingClientRect().left < 66) location.hash = line.id;
});
export {};
