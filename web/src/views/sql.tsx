// SQL over every table of the run: in the page when `debrief serve` is behind it, else what to type.
import { useEffect, useState } from "preact/hooks";
import { csvAddress, isServed, ordered, serveCommand } from "../sql/api";
import { Command, queryCommand } from "../sql/command";
import { examples } from "../sql/examples";
import { Results } from "../sql/results";
import { Tables } from "../sql/tables";
import { setParams } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "sql";

interface EditorProps {
  sql: string; // that the address has
  onRun: (sql: string) => void;
}

function Editor({ sql, onRun }: EditorProps) {
  const [draft, setDraft] = useState(sql);
  useEffect(() => setDraft(sql), [sql]);
  const run = () => draft.trim() && onRun(draft);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  };
  return (
    <section class="sql-editor" aria-label="Statement">
      <textarea
        aria-label="SQL"
        placeholder="SELECT ..."
        spellcheck={false}
        autocomplete="off"
        value={draft}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div class="sql-actions">
        <button class="run" onClick={run}>
          Run
        </button>
        <span class="quiet">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
        <label class="group-choice">
          <span>Examples</span>
          <select
            value=""
            onChange={(event) => onRun(examples[Number(event.currentTarget.value)]?.sql ?? "")}
          >
            <option value="" disabled>
              choose one
            </option>
            {examples.map((one, i) => (
              <option key={one.title} value={i}>
                {one.title}
              </option>
            ))}
          </select>
        </label>
      </div>
    </section>
  );
}

function Served({ run, route }: ViewProps) {
  const [turn, setTurn] = useState(0);
  const sql = route.params.get("q") ?? "";
  const sort = route.params.get("sort");
  const onRun = (text: string) => {
    setParams(id, { q: text, sort: null });
    setTurn(turn + 1);
  };
  return (
    <div class="sql-room">
      <Tables run={run} onChoose={onRun} />
      <div class="sql-main">
        <Editor sql={sql} onRun={onRun} />
        {sql ? (
          <>
            <Results
              sql={sql}
              sort={sort}
              onSort={(next) => setParams(id, { sort: next })}
              turn={turn}
              label="Rows"
            />
            <p class="sql-actions">
              <a href={csvAddress(ordered(sql, sort))} download="query.csv">
                All rows as CSV
              </a>
            </p>
          </>
        ) : (
          <p class="empty">Write a statement, or choose a table or an example.</p>
        )}
      </div>
    </div>
  );
}

function FromFile({ run }: ViewProps) {
  return (
    <div class="sql-room">
      <Tables run={run} />
      <div class="sql-main">
        <section class="missing" aria-label="SQL needs a server">
          <h2>
            SQL needs a server: run <code>{serveCommand}</code>
          </h2>
          <p>FOLDER is the one that holds this page. The server answers this machine alone.</p>
          <Command text={serveCommand} />
        </section>
        <section class="sql-offline" aria-label="On the command line">
          <h2>Or ask on the command line</h2>
          <ol>
            {examples.map((one) => (
              <li key={one.title}>
                <h3>{one.title}</h3>
                <Command text={queryCommand(one.sql)} />
              </li>
            ))}
          </ol>
        </section>
      </div>
    </div>
  );
}

function Sql(props: ViewProps) {
  return (
    <>
      <h1>SQL</h1>
      {isServed ? <Served {...props} /> : <FromFile {...props} />}
    </>
  );
}

export const view: View = { id, title: "SQL", section: "SQL", order: 90, component: Sql };
