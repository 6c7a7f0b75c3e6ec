// Why a compilation was needed, where it broke, how it failed.
import {
  breakKey,
  type Break,
  type Compilation,
  type Compile,
  type Failure,
  type Recompile,
} from "./data";
import { LeftOut, placeText } from "./parts";
import { SourceLink } from "./one_links";
import { Stack, Traceback } from "./one_stack";
import { count, words } from "../parts/format";
import type { StackFrame } from "../run/texts";
import { href } from "../shell/route";

// "L['x'], dimension 1: 8 -> 16".
export function changeText(row: Recompile): string {
  const what = [row.source, row.dimension !== undefined && `dimension ${row.dimension}`]
    .filter(Boolean)
    .join(", ");
  const from = row.old_value ?? "not told";
  const to = row.new_value ?? "not told";
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
          <div>
            <dt>changed</dt>
            <dd>
              <code>{changeText(row)}</code>
              {row.symbol && (
                <>
                  {" "}
                  and is now symbol <code>{row.symbol}</code>
                </>
              )}
            </dd>
          </div>
        )}
        {row.guard && (
          <div>
            <dt>guard</dt>
            <dd>
              <code>{row.guard}</code>
            </dd>
          </div>
        )}
        {row.user_file && (
          <div>
            <dt>needed by</dt>
            <dd>
              <SourceLink file={row.user_file} line={row.user_line}>
                <code>{placeText(row.user_file, row.user_line)}</code>
              </SourceLink>{" "}
              <code>{row.user_code}</code>
            </dd>
          </div>
        )}
        {row.next_step && (
          <div>
            <dt>next step</dt>
            <dd>{row.next_step}</dd>
          </div>
        )}
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
          <SourceLink file={row.user_file} line={row.user_line}>
            {placeText(row.user_file, row.user_line)}
          </SourceLink>
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
          {row.user_file ? `at ${placeText(row.user_file, row.user_line)}` : "place not told"}
          {row.falls_back ? "; the function ran uncompiled" : ""}
        </span>
      </p>
      <Traceback text={row.text ?? row.reason ?? "The log has no text."} />
    </li>
  );
}

export interface Reasons {
  recompiles: Recompile[];
  breaks: Break[];
  failures: Failure[];
}

function nothingWords(compile: Compile, one: Compilation): string {
  if ((one.number ?? 0) === 0)
    return "The first compilation of this frame; it did not fail and no graph break was logged.";
  return compile.leftOut("compile_recompile") > 0
    ? "Why this frame was compiled again is not on this page."
    : "The log does not tell why this frame was compiled again.";
}

const most = 16;

export function Why(props: {
  compile: Compile;
  one: Compilation;
  reasons: Reasons;
  stack: StackFrame[];
}) {
  const { compile, one, reasons, stack } = props;
  const { recompiles, breaks, failures } = reasons;
  return (
    <div class="why">
      {recompiles.length + breaks.length + failures.length === 0 && !one.why && (
        <p class="quiet">{nothingWords(compile, one)}</p>
      )}
      {recompiles.length > 0 && (
        <>
          <h3>Compiled again: what changed</h3>
          <ul class="reasons">
            {recompiles.slice(0, most).map((row, i) => (
              <RecompileItem key={i} row={row} />
            ))}
          </ul>
          {recompiles.length > most && (
            <p class="quiet">and {count(recompiles.length - most)} more</p>
          )}
        </>
      )}
      {recompiles.length === 0 && one.why && <p>{one.why}</p>}
      {breaks.length > 0 && (
        <>
          <h3>Graph breaks</h3>
          <ul class="reasons">
            {breaks.map((row, i) => (
              <BreakItem key={i} row={row} />
            ))}
          </ul>
        </>
      )}
      {failures.length > 0 && (
        <>
          <h3>Failure</h3>
          <ul class="reasons">
            {failures.map((row, i) => (
              <FailureItem key={i} row={row} />
            ))}
          </ul>
        </>
      )}
      {stack.length > 0 && (
        <>
          <h3>Where it began, innermost first</h3>
          <Stack frames={stack} />
        </>
      )}
      <LeftOut
        compile={compile}
        names={["compile_recompile", "compile_break", "compile_failure"]}
      />
    </div>
  );
}
