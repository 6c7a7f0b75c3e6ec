// A command line to copy.
import { CopyButton } from "../parts/copy";

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
  return (
    <span class="command">
      <code>{text}</code>
      <CopyButton text={text} />
    </span>
  );
}
