// Rows of a table that the page does not have: the reader is told where they are.
import { counted } from "../parts/format";

interface Source<Name> {
  leftOut: (name: Name) => number;
}

export function LeftOutOf<Name extends string>({ tables, names }: { tables: Source<Name>; names: Name[] }) {
  const some = names.filter((name) => tables.leftOut(name) > 0);
  if (some.length === 0) return null;
  return (
    <p class="quiet left-out">
      {some.map((name) => (
        <span key={name}>
          {counted(tables.leftOut(name), "row")} of <code>{name}</code> not on this page:{" "}
          <code>debrief query</code> has all.{" "}
        </span>
      ))}
    </p>
  );
}
