// A command line to copy.
import { useState } from "preact/hooks";

// As few backslashes as the shell allows: most statements have 'texts' and nothing else that it looks at.
function shellQuoted(text: string): string {
  if (!/["$`\\!]/.test(text)) return `"${text}"`;
  return `'${text.replace(/'/g, "'\\''")}'`;
}

// One line for a terminal: a statement needs no line breaks.
export function queryCommand(sql: string): string {
  return `debrief query FOLDER ${shellQuoted(sql.replace(/\s*\n\s*/g, " "))}`;
}

export function Command({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false), // the reader can still select it
    );
  };
  return (
    <span class="command">
      <code>{text}</code>
      <button onClick={copy}>{isCopied ? "Copied" : "Copy"}</button>
    </span>
  );
}
