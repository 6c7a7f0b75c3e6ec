// What a file of views/ exports as `view`. The frame makes navigation, keys and addresses from it; adding
// a view is adding a file.
import type { ComponentType } from "preact";
import type { Run } from "./run/data";
import type { Route } from "./shell/route";

export interface ViewProps {
  run: Run; // the chosen job's part of it
  whole: Run;
  route: Route;
}

// What a view cannot do without, and what to tell a reader whose run does not have it.
export interface Needs {
  tables: string[]; // any of them has rows
  missing: string; // "No compile logs were found."
  record: string; // how to get them: "Start the job with TORCH_TRACE=DIR ..."
}

export interface View {
  id: string; // in the address
  title: string;
  section?: string; // title in the first row of the navigation, shared with others; left out: its own
  order: number; // place in the navigation; views of a section follow each other
  needs?: Needs; // left out: nothing
  badge?: (run: Run) => number; // shown beside the title when not 0
  component: ComponentType<ViewProps>;
}
