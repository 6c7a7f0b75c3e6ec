// Ways from a compilation to other views. A view that this page does not have is not linked.
import type { ComponentChildren } from "preact";
import { views } from "views";
import { currentRoute, href } from "../shell/route";

const hasView = (id: string): boolean => views.some((view) => view.id === id);

// A link to a view with the job that is chosen now; plain text without that view.
export function ViewLink(props: {
  view: string;
  params: Record<string, string | null>;
  children: ComponentChildren;
  title?: string;
}) {
  if (!hasView(props.view)) return <>{props.children}</>;
  const job = currentRoute().params.get("job");
  return (
    <a href={href(props.view, { job, ...props.params })} title={props.title}>
      {props.children}
    </a>
  );
}

export function SourceLink(props: {
  file: string | undefined;
  line: number | undefined;
  children: ComponentChildren;
}) {
  if (!props.file) return <>{props.children}</>;
  const params = { file: props.file, line: props.line === undefined ? null : String(props.line) };
  return (
    <ViewLink view="source" params={params} title="Show this line with all that is known of it">
      {props.children}
    </ViewLink>
  );
}

export function timelineParams(row: {
  rank?: number;
  start_ns?: number;
  end_ns?: number;
}): Record<string, string | null> {
  const text = (value: number | undefined) => (value === undefined ? null : String(value));
  return { rank: text(row.rank), from: text(row.start_ns), to: text(row.end_ns) };
}

export { hasView };
