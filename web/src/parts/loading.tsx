// What stands in place of something that is still being read, or that cannot be.
import type { ComponentChildren, ComponentType } from "preact";
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

interface LoadProps<T> {
  once: Once<T>;
  title?: string; // of the view, there from the beginning
  children: (value: T) => ComponentChildren;
}

// What is made of an island, once it is read.
export function Load<T>({ once, title, children }: LoadProps<T>) {
  const loaded = useOnce(once);
  return (
    <>
      {title && <h1>{title}</h1>}
      {loaded.state === "ready" ? children(loaded.value) : <Waiting loaded={loaded} />}
    </>
  );
}

export type TableProps = ViewProps & { tables: Tables };

// A view that gets an island of tables, those of the chosen job.
export function withTables(
  island: Once<Tables>,
  Component: ComponentType<TableProps>,
): ComponentType<ViewProps> {
  function OfJob({ whole, props }: { whole: Tables; props: ViewProps }) {
    const { job } = props.run;
    const tables = useMemo(() => (job === null ? whole : whole.ofJob(job)), [whole, job]);
    return <Component {...props} tables={tables} />;
  }
  return (props) => <Load once={island}>{(whole) => <OfJob whole={whole} props={props} />}</Load>;
}
