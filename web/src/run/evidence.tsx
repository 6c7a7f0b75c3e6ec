// What a finding rests on: sentences, each a link to where it can be seen, with the rows behind it.
import { count, rankList, time } from "../parts/format";
import { useOnce } from "./islands";
import { placesOf } from "./places";
import { storyIsland, type EvidenceRow } from "./story";
import type { Evidence, Finding, Run } from "./data";

const mostShown = 50;

function valueText(name: string, value: unknown): string {
  if (typeof value === "number" && name.endsWith("_ns") && value > 1e17) return time(value);
  if (Array.isArray(value)) return value.join(name === "stack" ? "\n" : ", ");
  return typeof value === "number" ? count(value) : String(value);
}

function Rows({ rows, table }: { rows: EvidenceRow[]; table: string }) {
  return (
    <div class="evidence-rows">
      {rows.map((row, i) => (
        <dl key={i} aria-label={`Row of ${table}`}>
          {Object.entries(row).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{valueText(name, value)}</dd>
            </div>
          ))}
        </dl>
      ))}
    </div>
  );
}

interface SentenceProps {
  evidence: Evidence;
  finding: Finding;
  run: Run;
  rows: EvidenceRow[];
}

function Sentence({ evidence, finding, run, rows }: SentenceProps) {
  const places = placesOf(run, finding, evidence, rows);
  const [first, ...more] = places;
  const where = evidence.rows.length > 0 && ` ${evidence.rows.length === 1 ? "row" : "rows"} ${rankList(evidence.rows, 6)}`;
  return (
    <li>
      {first ? (
        <a href={first.href} title={`Show in ${first.words}`}>
          {evidence.text}
        </a>
      ) : (
        evidence.text
      )}
      {more.map((place) => (
        <a key={place.words} class="also" href={place.href}>
          {place.words}
        </a>
      ))}
      {evidence.table && rows.length === 0 && (
        <span class="quiet">
          {" "}
          in <code>{evidence.table}</code>
          {where}
        </span>
      )}
      {evidence.table && rows.length > 0 && (
        <details>
          <summary class="quiet">
            in <code>{evidence.table}</code>
            {where}
          </summary>
          <Rows rows={rows} table={evidence.table} />
        </details>
      )}
    </li>
  );
}

// A headline that was cut stands whole as the first sentence of the evidence, without rows: it belongs to the headline.
export function wholeHeadline(finding: Finding): Evidence | null {
  const first = finding.evidence[0];
  const isIt = first && !first.table && first.text.startsWith(finding.headline.slice(0, 30));
  return isIt ? first : null;
}

// What the headline leaves out: not said twice, one above the other.
export function restOfHeadline(finding: Finding): string {
  const whole = wholeHeadline(finding)?.text ?? "";
  const start = finding.headline.replace(/\.\.\.$/, "");
  return whole.startsWith(start) ? `\u2026 ${whole.slice(start.length).replace(/^[\s,;:.]+/, "")}` : whole;
}

export function EvidenceList({ finding, run }: { finding: Finding; run: Run }) {
  const story = useOnce(storyIsland);
  if (finding.evidence.length === 0) return null;
  const rows = story.state === "ready" ? (story.value.evidence[finding.id] ?? []) : [];
  return (
    <ul class="evidence">
      {finding.evidence.slice(0, mostShown).map((one, i) =>
        one === wholeHeadline(finding) ? null : (
          <Sentence key={i} evidence={one} finding={finding} run={run} rows={rows[i] ?? []} />
        ),
      )}
      {finding.evidence.length > mostShown && (
        <li>and {count(finding.evidence.length - mostShown)} more in findings.json</li>
      )}
    </ul>
  );
}
