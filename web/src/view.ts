// What a file of views/ exports as `view`. The frame makes navigation, keys and addresses from it; adding
// a view is adding a file.
import type { ComponentType } from "preact";
import type { Run } from "./data";
import type { Route } from "./route";

export interface ViewProps {
  run: Run; // the chosen job's part of it
  whole: Run;
  route: Route;
}

export interface View {
  id: string; // in the address
  title: string;
  order: number; // place in the navigation
  shown?: (run: Run) => boolean; // left out: always
  badge?: (run: Run) => number; // shown beside the title when not 0
  component: ComponentType<ViewProps>;
}
