// A button that copies a text, and says that it did.
import { useState } from "preact/hooks";

export function CopyButton({ text, words = "Copy" }: { text: string; words?: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => {
    void navigator.clipboard.writeText(text).then(
      () => setCopied(true),
      () => setCopied(false), // the reader can still select it
    );
  };
  return <button onClick={copy}>{isCopied ? "Copied" : words}</button>;
}
