// Rows of tables that the page does not have: the reader is told where they are.
import type { TableName, Tables } from "../run/tables";
import { MoreInStore } from "../sql/more";
import { counted } from "./format";

interface Props {
  tables: Tables;
  names: TableName[];
}

// With all rows of the table at hand.
export function LeftOut({ tables, names }: Props) {
  return (
    <>
      {names.map((name) => (
        <MoreInStore key={name} table={name} missing={tables.leftOut(name)} />
      ))}
    </>
  );
}

// In one line. `inStore`: of profiles.
export function LeftOutNote({ tables, names, inStore }: Props & { inStore?: boolean }) {
  const some = names.filter((name) => tables.leftOut(name) > 0);
  if (some.length === 0) return null;
  return (
    <p class="quiet left-out">
      {some.map((name) => (
        <span key={name}>
          {counted(tables.leftOut(name), "row")} of <code>{name}</code>{" "}
          {inStore ? (
            <>
              in <code>run.duckdb</code> {tables.leftOut(name) === 1 ? "is" : "are"} not on this page.{" "}
            </>
          ) : (
            <>
              not on this page: <code>debrief query</code> has all.{" "}
            </>
          )}
        </span>
      ))}
    </p>
  );
}
