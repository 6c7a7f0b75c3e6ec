// Where the reader is: #/view?name=value&..., so that every state has an address that can be shared,
// reloaded and gone back to. The address is the only store of that state.
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string; // empty: the first one
  params: URLSearchParams;
}

function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path, params: new URLSearchParams(query) };
}

export function href(view: string, params: Record<string, string | null> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export function currentRoute(): Route {
  return parse(location.hash);
}

const listeners = new Set<() => void>();

function show(url: string, replace: boolean): void {
  if (url === location.hash) return;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  for (const listener of listeners) listener();
}

// Goes to another view. Parameters are those given; the chosen job stays.
export function goTo(view: string, params: Record<string, string | null> = {}): void {
  show(href(view, { job: currentRoute().params.get("job"), ...params }), false);
}

// Changes parameters of the present view; null removes one. What is typed letter by letter replaces the
// address, so that "back" leads to where the reader was and not through every letter.
export function setParams(
  view: string,
  changes: Record<string, string | null>,
  replace = false,
): void {
  const params = Object.fromEntries(currentRoute().params);
  show(href(view, { ...params, ...changes }), replace);
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute);
  useEffect(() => {
    const update = () => setRoute(currentRoute());
    listeners.add(update);
    window.addEventListener("hashchange", update);
    window.addEventListener("popstate", update);
    return () => {
      listeners.delete(update);
      window.removeEventListener("hashchange", update);
      window.removeEventListener("popstate", update);
    };
  }, []);
  return route;
}
