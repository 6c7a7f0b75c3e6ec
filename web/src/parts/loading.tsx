// What stands in place of something that is still being read, or that cannot be.
import type { ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useOnce, type Loaded, type Once } from "../run/islands";
import type { Tables } from "../run/tables";
import type { Needs, ViewProps } from "../view";

// A sentence that only appears when the wait is long enough to be noticed.
function Loading() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 200);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p class="loading" role="status">
      {isLong ? "Reading the data of this view ..." : ""}
    </p>
  );
}

export function Waiting<T>({ loaded }: { loaded: Loaded<T> }) {
  if (loaded.state === "failed") {
    return (
      <section class="missing" aria-label="Missing data">
        <h2>The data of this view cannot be read</h2>
        <p>{loaded.reason}</p>
      </section>
    );
  }
  return <Loading />;
}

// In place of a view whose data the run does not have.
export function Missing({ title, needs }: { title: string; needs: Needs }) {
  return (
    <>
      <h1>{title}</h1>
      <section class="missing" aria-label="Nothing to show">
        <h2>{needs.missing}</h2>
        <p>{needs.record}</p>
      </section>
    </>
  );
}

// A view that gets an island of tables, those of the chosen job, under `name`.
export function withTables<Map extends object, Name extends string>(
  island: Once<Tables<Map>>,
  name: Name,
  Component: ComponentType<ViewProps & Record<Name, Tables<Map>>>,
): ComponentType<ViewProps> {
  return function View(props: ViewProps) {
    const loaded = useOnce(island);
    const whole = loaded.state === "ready" ? loaded.value : null;
    const tables = useMemo(
      () => (whole && props.run.job !== null ? whole.ofJob(props.run.job) : whole),
      [whole, props.run.job],
    );
    if (!tables) return <Waiting loaded={loaded} />;
    const all = { ...props, [name]: tables } as ViewProps & Record<Name, Tables<Map>>;
    return <Component {...all} />;
  };
}
