// How code looks: colours are the variables of tokens.css, which reach into the viewer's shadow root, so that light
// and dark follow the page. What a mark means is also in its bar and in its title, never in its colour alone.
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const bar = (colour: string, width = 3) => `inset ${width}px 0 0 var(--${colour})`;

const look = EditorView.theme({
  "&": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    fontSize: "12.5px",
    height: "var(--code-height, 100%)",
    maxHeight: "var(--code-most, none)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", overflow: "auto" },
  ".cm-content": { padding: "4px 0", caretColor: "transparent", outline: "none" },
  ".cm-line": { padding: "0 10px" },
  ".cm-gutters": {
    color: "var(--quiet)",
    backgroundColor: "var(--raised)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 8px 0 10px", cursor: "pointer" },
  ".cm-notes .cm-gutterElement": { padding: "0 6px", textAlign: "right" },
  ".cm-note": { color: "var(--warning)", fontWeight: "600" },
  ".cm-selectionBackground, .cm-line ::selection, .cm-line::selection": {
    backgroundColor: "var(--accent-ground)",
  },
  ".mark-hint": { boxShadow: bar("line-strong", 2) },
  ".mark-linked": { backgroundColor: "var(--warning-ground)", boxShadow: bar("warning") },
  ".mark-selected": { backgroundColor: "var(--accent-ground)", boxShadow: bar("accent", 4) },
  ".mark-added": { backgroundColor: "var(--good-ground)", boxShadow: bar("good") },
  ".mark-removed": { backgroundColor: "var(--error-ground)", boxShadow: bar("error") },
  ".mark-error": { backgroundColor: "var(--error-ground)", boxShadow: bar("error", 4) },
  ".mark-warning": { backgroundColor: "var(--warning-ground)", boxShadow: bar("warning") },
  ".mark-info": { backgroundColor: "var(--info-ground)", boxShadow: bar("info") },
  ".mark-filler": { backgroundColor: "var(--raised)" },
  ".mark-fold": { backgroundColor: "var(--raised)", color: "var(--quiet)", cursor: "pointer" },
  ".mark-jumped": { outline: "1px solid var(--accent)", outlineOffset: "-1px" },
  ".cm-panels": {
    color: "var(--text)",
    backgroundColor: "var(--raised)",
    borderTop: "1px solid var(--line)",
  },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "6px 28px 6px 8px", fontFamily: "var(--sans)" },
  ".cm-panel.cm-search label": { fontSize: "12px", color: "var(--quiet)" },
  ".cm-textfield": {
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line-strong)",
    borderRadius: "4px",
    fontSize: "12.5px",
  },
  ".cm-button, .cm-panel.cm-search [name=close]": {
    color: "var(--text)",
    backgroundImage: "none",
    backgroundColor: "var(--surface)",
    border: "1px solid var(--line)",
    borderRadius: "4px",
    fontSize: "12px",
  },
  ".cm-button:active": { backgroundImage: "none", backgroundColor: "var(--accent-ground)" },
  ".cm-searchMatch": {
    backgroundColor: "var(--warning-ground)",
    outline: "1px solid var(--warning)",
  },
  ".cm-searchMatch-selected": {
    backgroundColor: "var(--accent-ground)",
    outline: "2px solid var(--accent)",
  },
});

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.character], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--info)" },
  { tag: tags.comment, color: "var(--quiet)", fontStyle: "italic" },
  {
    tag: [tags.definition(tags.function(tags.variableName)), tags.definition(tags.className)],
    color: "var(--warning)",
    fontWeight: "600",
  },
  { tag: [tags.typeName, tags.className, tags.propertyName], color: "var(--text)" },
  { tag: [tags.meta, tags.processingInstruction], color: "var(--quiet)" },
]);

export const theme = [look, syntaxHighlighting(colours)];
