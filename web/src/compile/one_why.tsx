// Why a compilation was needed, where it broke, how it failed.
import type { ComponentChildren } from "preact";
import { count, placeText, words } from "../parts/format";
import { LeftOut } from "../parts/left_out";
import { Term } from "../parts/marks";
import type { Tables } from "../run/tables";
import type { StackFrame } from "../run/texts";
import { href } from "../shell/route";
import { breakKey, type Break, type Compilation, type Failure, type Recompile } from "./data";
import { Stack, Traceback } from "./one_stack";
import { ToSource } from "./parts";

// "L['x'], dimension 1: 8 -> 16".
export function changeText(row: Recompile): string {
  const what = [row.source, row.dimension !== undefined && `dimension ${row.dimension}`]
    .filter(Boolean)
    .join(", ");
  const from = row.old_value ?? "unknown";
  const to = row.new_value ?? "unknown";
  return `${what || words(row.kind ?? "guard")}: ${from} \u2192 ${to}`;
}

function RecompileItem({ row }: { row: Recompile }) {
  return (
    <li>
      <p>
        <strong>{row.change ?? changeText(row)}</strong>{" "}
        <span class="quiet">
          guard of {row.previous_id ?? "an earlier compilation"}
          {row.is_main ? ", the main reason" : ""}
        </span>
      </p>
      <dl class="column-words">
        {(row.old_value ?? row.new_value) !== undefined && (
          <Term name="changed">
            <code>{changeText(row)}</code>
            {row.symbol && (
              <>
                {" "}
                and is now symbol <code>{row.symbol}</code>
              </>
            )}
          </Term>
        )}
        <Term name="guard">{row.guard && <code>{row.guard}</code>}</Term>
        {row.user_file && (
          <Term name="needed by">
            <ToSource file={row.user_file} line={row.user_line}>
              <code>{placeText(row.user_file, row.user_line)}</code>
            </ToSource>{" "}
            <code>{row.user_code}</code>
          </Term>
        )}
        <Term name="next step">{row.next_step}</Term>
      </dl>
    </li>
  );
}

function BreakItem({ row }: { row: Break }) {
  return (
    <li>
      <p>
        <strong>{row.reason ?? "Graph break"}</strong>{" "}
        <span class="quiet">
          <ToSource file={row.user_file} line={row.user_line}>
            {placeText(row.user_file, row.user_line)}
          </ToSource>
        </span>
      </p>
      {row.explanation && <p>{row.explanation}</p>}
      <p>
        <a href={href("breaks", { at: breakKey(row) })}>Hints, stack and cost of this break</a>
      </p>
    </li>
  );
}

function FailureItem({ row }: { row: Failure }) {
  return (
    <li>
      <p>
        <strong>{row.fail_type ?? "Failure"}</strong>{" "}
        <span class="quiet">
          {row.user_file ? `at ${placeText(row.user_file, row.user_line)}` : "place unknown"}
          {row.falls_back ? "; the function ran uncompiled" : ""}
        </span>
      </p>
      <Traceback text={row.text ?? row.reason ?? "The log has no text."} />
    </li>
  );
}

interface Found {
  recompiles: Recompile[];
  breaks: Break[];
  failures: Failure[];
}

function nothingWords(tables: Tables, one: Compilation): string {
  if ((one.number ?? 0) === 0)
    return "The first compilation of this frame; it did not fail and no graph break was logged.";
  return tables.leftOut("compile_recompile") > 0
    ? "Why this frame was compiled again is not on this page."
    : "The log does not say why this frame was compiled again.";
}

const most = 16;

function Reasons({ title, items }: { title: string; items: ComponentChildren[] }) {
  if (items.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul class="reasons">{items}</ul>
    </>
  );
}

export function Why(props: {
  tables: Tables;
  one: Compilation;
  reasons: Found;
  stack: StackFrame[];
}) {
  const { tables, one, reasons, stack } = props;
  const { recompiles, breaks, failures } = reasons;
  return (
    <div class="why">
      {recompiles.length + breaks.length + failures.length === 0 && !one.why && (
        <p class="quiet">{nothingWords(tables, one)}</p>
      )}
      <Reasons
        title="Compiled again: what changed"
        items={recompiles.slice(0, most).map((row, i) => <RecompileItem key={i} row={row} />)}
      />
      {recompiles.length > most && <p class="quiet">and {count(recompiles.length - most)} more</p>}
      {recompiles.length === 0 && one.why && <p>{one.why}</p>}
      <Reasons title="Graph breaks" items={breaks.map((row, i) => <BreakItem key={i} row={row} />)} />
      <Reasons title="Failure" items={failures.map((row, i) => <FailureItem key={i} row={row} />)} />
      {stack.length > 0 && (
        <>
          <h3>Where it began, innermost first</h3>
          <Stack frames={stack} />
        </>
      )}
      <LeftOut tables={tables} names={["compile_recompile", "compile_break", "compile_failure"]} />
    </div>
  );
}
