// Choices that are kept in the address: tabs, and lists to choose from.
import type { ComponentChildren } from "preact";
import { useKeys } from "../shell/keys";
import { setParams } from "../shell/route";
import { count } from "./format";

export interface Tab {
  id: string;
  title: string;
  rows?: number; // shown beside the title
}

// A choice inside of a view; the first is the default and not in the address.
export function Tabs(props: {
  view: string;
  param: string;
  tabs: Tab[];
  current: string;
  label: string;
  forget?: Record<string, null>; // parameters of the other tabs
}) {
  const { view, param, tabs, forget } = props;
  const choose = (id: string) =>
    setParams(view, { [param]: id === tabs[0]?.id ? null : id, ...forget });
  return (
    <div class="choices" role="group" aria-label={props.label}>
      {tabs.map((tab) => (
        <button key={tab.id} aria-pressed={tab.id === props.current} onClick={() => choose(tab.id)}>
          {tab.title}
          {tab.rows !== undefined && <span class="tab-count"> {count(tab.rows)}</span>}
        </button>
      ))}
    </div>
  );
}

export function chosen(tabs: Tab[], wanted: string | null): string {
  return (tabs.find((tab) => tab.id === wanted) ?? tabs[0])?.id ?? "";
}

interface SelectProps {
  name: string;
  value: string | number;
  options: [value: string | number, words: string][];
  onChoose: (value: string) => void;
  class?: string;
  children?: ComponentChildren; // options before the others
}

export function Select(props: SelectProps) {
  return (
    <label class={props.class ?? "group-choice"}>
      <span aria-hidden="true">{props.name}</span>
      <select
        aria-label={props.name}
        value={props.value}
        onChange={(event) => props.onChoose(event.currentTarget.value)}
      >
        {props.children}
        {props.options.map(([value, words]) => (
          <option key={value} value={value}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

// j and k lead to the next and the previous of something.
export function useSteps(noun: string, move: (by: 1 | -1) => void): void {
  useKeys([
    { key: "j", does: `Next ${noun}`, act: () => move(1) },
    { key: "k", does: `Previous ${noun}`, act: () => move(-1) },
  ]);
}
