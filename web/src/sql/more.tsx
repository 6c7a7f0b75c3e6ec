// The rows of a table that an island left out, for any view to put below its table: served, they are paged from
// the store; from a file, the reader is told where they are.
import { useState } from "preact/hooks";
import { isServed, quoted } from "./api";
import { Command, queryCommand } from "./command";
import { Results } from "./results";
import { counted } from "../parts/format";
import { href } from "../shell/route";

interface Props {
  table: string;
  missing: number; // rows that the page does not have
  where?: string; // SQL
  order?: string; // SQL
}

function statementFor({ table, where, order }: Omit<Props, "missing">): string {
  const filter = where ? ` WHERE ${where}` : "";
  return `SELECT * FROM ${quoted(table)}${filter}${order ? ` ORDER BY ${order}` : ""}`;
}

// All of them, those on the page included: which are missing is the island's choice, not an order of the table.
export function MoreInStore({ table, missing, ...rest }: Props) {
  const [isOpen, setOpen] = useState(false);
  const [sort, setSort] = useState<string | null>(null);
  if (missing <= 0) return null;
  const sql = statementFor({ table, ...rest });
  return (
    <div class="left-out">
      <p class="quiet">
        {counted(missing, "row")} of <code>{table}</code> {missing === 1 ? "is" : "are"} not on this
        page: <code>debrief query</code> has all.{" "}
        {isServed && (
          <>
            <button class="plain link" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              {isOpen ? "Hide them" : "Show all rows"}
            </button>{" "}
            <a href={href("sql", { q: sql })}>as SQL</a>
          </>
        )}
      </p>
      {!isServed && <Command text={queryCommand(sql)} />}
      {isOpen && <Results sql={sql} sort={sort} onSort={setSort} label={`All rows of ${table}`} />}
    </div>
  );
}
