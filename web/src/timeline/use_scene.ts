// Components that show a part of the scene (scene.ts).
import { useLayoutEffect, useState } from "preact/hooks";
import type { Scene } from "./scene";

// What a component shows of the scene; it is made anew when that changes. `pick` returns the same object while
// it means the same.
export function useScene<T>(scene: Scene, pick: (scene: Scene) => T): T {
  const [value, setValue] = useState(() => pick(scene));
  useLayoutEffect(() => {
    const update = () => setValue(() => pick(scene));
    update();
    return scene.screen.listen(update);
  }, [scene]);
  return value;
}
