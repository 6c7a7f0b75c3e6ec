// Keys: a view says which it understands and what they do, and the help that `?` shows is made from that.
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  key: string; // as in KeyboardEvent.key
  does: string;
  act: () => void;
}

const active = new Set<Key[]>();

export function activeKeys(): Key[] {
  return [...active].flat();
}

// `keys` are in force while the component is shown, from the moment it is: a key that follows at once must not meet those of
// the state before.
export function useKeys(keys: Key[]): void {
  useLayoutEffect(() => {
    active.add(keys);
    return () => void active.delete(keys);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
}

export function listenToKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    if (document.querySelector("dialog[open]")) return;
    const key = activeKeys().find((one) => one.key === event.key);
    if (!key) return;
    event.preventDefault();
    key.act();
  });
}
