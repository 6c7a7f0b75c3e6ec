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

export type Params = Record<string, string | number | null | undefined>; // nothing: not in the address

export function href(view: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value || value === 0) query.set(name, String(value));
  const text = query.toString();
  return `#/${view}${text ? `?${text}` : ""}`;
}

export function currentRoute(): Route {
  return parse(location.hash);
}

// A parameter of the present address: whatever shows it is drawn anew when the address changes.
export function param(name: string): string | null {
  return currentRoute().params.get(name);
}

// The address of a view with the job that is chosen now.
export function to(view: string, params: Params = {}): string {
  return href(view, { job: param("job"), ...params });
}

const listeners = new Set<() => void>();

function show(url: string, replace: boolean): void {
  if (url === location.hash) return;
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  for (const listener of listeners) listener();
}

// Goes to another view. Parameters are those given; the chosen job stays.
export function goTo(view: string, params: Params = {}): void {
  show(to(view, params), false);
}

// Changes parameters of the present view; null removes one. What is typed letter by letter replaces the
// address, so that "back" leads to where the reader was and not through every letter.
export function setParams(view: string, changes: Params, replace = false): void {
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
