// Nodes and edges of the wait-for graph in words: the text equivalent of the picture.
import { capital, count, counted, duration, steppedList } from "../parts/format";
import { groupTitle, shownState } from "./data";
import type { Wait, WaitNode } from "./waits";

export function ranksWords(ranks: number[], most = 6): string {
  return `${ranks.length === 1 ? "rank" : "ranks"} ${steppedList(ranks, most)}`;
}

// "all_reduce #16 of mesh_dp (7)"; of several groups "all_reduce of 12 groups mesh_dp".
function opWords(waits: Wait[]): string {
  const first = waits[0];
  if (!first) return "";
  if (waits.length === 1) return `${first.op} #${first.seq ?? "?"} of ${groupTitle(first)}`;
  const groups = new Set(waits.map((one) => `${one.name}/${one.desc}`)).size;
  const names = [...new Set(waits.map((one) => one.desc || one.name))];
  return groups === 1
    ? `${first.op} of ${groupTitle(first)}`
    : `${first.op} of ${counted(groups, "group")} ${names.slice(0, 3).join(", ")}`;
}

export function agesWords(waits: Wait[]): string {
  const ages = waits.flatMap((one) => [one.oldest_ns ?? [], one.newest_ns ?? []].flat());
  if (ages.length === 0) return "";
  const [least, most] = [duration(Math.min(...ages)), duration(Math.max(...ages))];
  return least === most ? most : `${least} to ${most}`;
}

// "rank 7 is in all_reduce".
export function clashWords(clash: Pick<Wait, "ranks" | "op">[]): string {
  const one = ({ ranks, op }: Pick<Wait, "ranks" | "op">) =>
    `${ranksWords(ranks, 3)} ${ranks.length === 1 ? "is" : "are"} in ${op}`;
  return clash.slice(0, 3).map(one).join(", ");
}

export function stateWords(node: WaitNode): string {
  switch (node.kind) {
    case "done":
      return "has not issued what others wait for";
    case "lost":
      return "left no dump";
    case "open":
      return `in ${opWords(node.waits)}`;
    case "waiting":
      return `at ${opWords(node.waits)}`;
  }
}

function states(waits: Wait[]): string {
  return [...new Set(waits.map((one) => shownState(one.state)))].join(" or ");
}

// One or two sentences.
export function nodeWords(node: WaitNode): string {
  const who = capital(ranksWords(node.ranks, 12));
  const [is, has] = node.ranks.length === 1 ? ["is", "has"] : ["are", "have"];
  const held =
    node.behind > 0 ? ` ${counted(node.behind, "rank")} wait for it, directly or through others.` : "";
  if (node.kind === "lost") return `${who} left no dump: nobody knows where ${is === "is" ? "it is" : "they are"}.${held}`;
  if (node.kind === "done")
    return `${who} ${has} completed all that ${is === "is" ? "it" : "they"} issued and never issued what others wait for.${held}`;
  const at = `${who} ${is} at ${opWords(node.waits)}, ${states(node.waits)} for ${agesWords(node.waits) || "an unknown time"}`;
  if (node.clash.length > 0)
    return `${at}. ${capital(clashWords(node.clash))} at the same place: neither can complete.${held}`;
  if (node.kind === "open")
    return `${at}. All members have joined it and it is not completed: look at what they passed, and at the network.${held}`;
  const on = [...new Set(node.waits.flatMap((one) => one.on))].sort((a, b) => a - b);
  const more = node.waits.reduce((most, one) => Math.max(most, one.waits), 0) - on.length;
  return `${at}, and ${node.ranks.length === 1 ? "waits" : "wait"} for ${ranksWords(on, 12)}${more > 0 ? ` and ${count(more)} more` : ""}.${held}`;
}

export function edgeWords(from: WaitNode, to: WaitNode): string {
  const on = new Set(from.waits.flatMap((one) => one.on));
  const ranks = to.ranks.filter((rank) => on.has(rank));
  const why: Record<WaitNode["kind"], string> = {
    waiting: `which ${ranks.length === 1 ? "is" : "are"} still at ${opWords(to.waits)}`,
    open: `which ${ranks.length === 1 ? "is" : "are"} still in ${opWords(to.waits)}`,
    done: "which never issued it",
    lost: "which left no dump",
  };
  return `${capital(ranksWords(from.ranks, 12))} ${from.ranks.length === 1 ? "waits" : "wait"} in ${opWords(from.waits)} for ${ranksWords(ranks, 12)}, ${why[to.kind]}.`;
}
