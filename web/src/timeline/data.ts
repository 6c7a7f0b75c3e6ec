// The timeline's islands: the outline, and slices by the name of their island (Process.island). Each is read
// once, when it is first asked for.
import { clean } from "../run/clean";
import { loadIsland, loadJson, Once } from "../run/islands";
import { decodeIsland } from "./decode";
import type { IslandData, Timeline } from "./model";

export const timelineIsland = new Once(async () => clean(await loadJson("timeline")) as Timeline);

const islands = new Map<string, Once<IslandData>>();

export function islandData(name: string): Once<IslandData> {
  let island = islands.get(name);
  if (!island) {
    island = new Once(async () => decodeIsland(await loadIsland(name)));
    islands.set(name, island);
  }
  return island;
}
