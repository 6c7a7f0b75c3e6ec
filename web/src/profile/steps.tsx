// The steps of one timeline as stacked columns, with the median and the slow ones marked, and one of them in detail.
import type { Run } from "../run/data";
import { duration, durationInWords, roundStep, shareText, showTime } from "../parts/format";
import { median } from "../parts/rows";
import { meaning, type Row } from "../run/tables";
import type { Step, Timeline } from "./data";
import { deviceParts, PartBar, TimelineLink, valuesInWords, type Values } from "./parts";

export function stepValues(step: Step): Values {
  return {
    compute: step.compute_ns,
    communication: step.exposed_communication_ns,
    memory: step.exposed_memory_ns,
    idle: step.idle_ns,
  };
}

export const nameOf = (step: Step) => String(step.label ?? step.step ?? "?");

// Rows of the table profile_step that findings call slow, with the finding.
export function slowSteps(run: Run): Map<number, string> {
  const rows = new Map<number, string>();
  for (const finding of run.findings) {
    if (finding.rule !== "profile.slow_step") continue;
    for (const one of finding.evidence)
      if (one.table === "profile_step") for (const row of one.rows) rows.set(row, finding.id);
  }
  return rows;
}

function medianOf(steps: Step[], value: (step: Step) => number | undefined): number {
  const whole = steps.filter((step) => step.whole);
  return median((whole.length > 0 ? whole : steps).map((step) => value(step) ?? 0));
}

const chartHeight = 210;
const [top, bottom, left] = [18, 22, 64];

interface ChartProps {
  steps: Step[];
  slow: Map<number, string>;
  chosen: Step | undefined;
  onChoose: (step: Step) => void;
}

function Column(props: ChartProps & { step: Step; x: number; width: number; scale: number }) {
  const { step, x, width, scale, slow } = props;
  const total = step.duration_ns ?? 0;
  const values = stepValues(step);
  let y = chartHeight - bottom;
  const isSlow = slow.has(step.row);
  const words = `Step ${nameOf(step)}: ${duration(total)}; ${valuesInWords(deviceParts, values, total)}${isSlow ? "; slow" : ""}${step.whole ? "" : "; cut by the recording"}`;
  const bars = deviceParts.map((part) => {
    const height = (values[part.id] ?? 0) * scale;
    y -= height;
    return height > 0 ? (
      <rect key={part.id} class={part.id} x={x} y={y} width={width} height={height} />
    ) : null;
  });
  return (
    <g opacity={step.whole ? 1 : 0.55}>
      {bars}
      {isSlow && <path class="slow" d={`M${x + width / 2} ${y - 3}l-5 -8h10z`} />}
      {props.chosen === step && (
        <rect class="chosen" x={x - 2} y={y - 2} width={width + 4} height={chartHeight - bottom - y + 4} />
      )}
      <rect
        class="hit"
        x={x - 1}
        y={top - 14}
        width={width + 2}
        height={chartHeight - bottom - top + 14}
        onClick={() => props.onChoose(step)}
      >
        <title>{words}</title>
      </rect>
    </g>
  );
}

// The table of steps beneath says the same in words.
export function StepChart(props: ChartProps) {
  const { steps, slow } = props;
  const most = Math.max(1, ...steps.map((step) => step.duration_ns ?? 0));
  const pitch = Math.max(7, Math.min(64, 1090 / Math.max(steps.length, 1)));
  const width = Math.max(1200, left + steps.length * pitch + 16);
  const scale = (chartHeight - top - bottom) / most;
  const size = roundStep(most / 4);
  const lines = Array.from({ length: Math.floor(most / size) + 1 }, (_, i) => i * size);
  const yOf = (ns: number) => chartHeight - bottom - ns * scale;
  const middle = medianOf(steps, (step) => step.duration_ns);
  const every = Math.ceil(30 / pitch);
  const numbers = slow.size > 0 ? steps.filter((step) => slow.has(step.row)).length : 0;
  return (
    <div class="step-box">
      <svg
        class="step-chart"
        width={width}
        height={chartHeight}
        role="img"
        aria-label={`${steps.length} steps, median ${duration(middle)}, longest ${duration(most)}, ${numbers} slow`}
      >
        {lines.map((ns) => (
          <g key={ns}>
            <line class="grid" x1={left - 4} x2={width} y1={yOf(ns)} y2={yOf(ns)} />
            <text x={left - 8} y={yOf(ns) + 4} text-anchor="end">
              {ns === 0 ? "0" : durationInWords(ns)}
            </text>
          </g>
        ))}
        {steps.map((step, i) => (
          <Column
            key={step.row}
            {...props}
            step={step}
            x={left + i * pitch + pitch * 0.12}
            width={pitch * 0.76}
            scale={scale}
          />
        ))}
        {steps.map((step, i) =>
          i % every === 0 ? (
            <text key={step.row} x={left + (i + 0.5) * pitch} y={chartHeight - 7} text-anchor="middle">
              {nameOf(step)}
            </text>
          ) : null,
        )}
        <line
          class="median"
          x1={left - 4}
          x2={left + steps.length * pitch + 8}
          y1={yOf(middle)}
          y2={yOf(middle)}
        >
          <title>Median of whole steps: {duration(middle)}</title>
        </line>
      </svg>
    </div>
  );
}

const figures: [part: string, words: string, column: keyof Row<"profile_step">][] = [
  ["", "step time", "duration_ns"],
  ["compute", "compute", "compute_ns"],
  ["communication", "exposed communication", "exposed_communication_ns"],
  ["memory", "exposed copies", "exposed_memory_ns"],
  ["idle", "idle", "idle_ns"],
  ["", "host", "host_ns"],
];

// "+3.1 ms", with a true minus sign.
function difference(ns: number): string {
  if (Math.abs(ns) < 1) return "0";
  return `${ns < 0 ? "\u2212" : "+"}${duration(Math.round(Math.abs(ns)))}`;
}

interface DetailProps {
  step: Step;
  steps: Step[]; // of the same timeline
  peers: { timeline: Timeline; step: Step }[]; // the same step of all timelines
}

export function StepDetail({ step, steps, peers }: DetailProps) {
  const most = Math.max(1, ...peers.map((one) => one.step.duration_ns ?? 0));
  return (
    <aside class="panel" aria-label="Selected step">
      <h2>
        Step {nameOf(step)}{" "}
        <span class="quiet">
          {duration(step.duration_ns ?? 0)}
          {step.whole ? "" : ", cut by the end of the recording"}
        </span>
      </h2>
      <div class="step-detail">
        <table aria-label="The step beside the median step">
          <thead>
            <tr>
              <th>part</th>
              <th class="number">this step</th>
              <th class="number">median</th>
              <th class="number">difference</th>
            </tr>
          </thead>
          <tbody>
            {figures.map(([part, words, column]) => {
              const value = (step[column] as number | undefined) ?? 0;
              const usual = medianOf(steps, (one) => one[column] as number | undefined);
              return (
                <tr key={column} title={meaning("profile_step", column)}>
                  <td>
                    {part && <i class={`part ${part}`} />} {words}
                  </td>
                  <td class="number">{showTime(value)}</td>
                  <td class="number">{showTime(usual)}</td>
                  <td class="number">{difference(value - usual)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {peers.length > 1 && (
          <table aria-label="The same step on all ranks">
            <thead>
              <tr>
                <th>rank</th>
                <th>the same step</th>
                <th class="number">step time</th>
              </tr>
            </thead>
            <tbody>
              {peers.slice(0, 16).map((one) => (
                <tr key={one.timeline.input}>
                  <td>{one.timeline.label}</td>
                  <td style={{ width: "60%" }}>
                    <PartBar parts={deviceParts} values={stepValues(one.step)} whole={most} />
                  </td>
                  <td class="number">{duration(one.step.duration_ns ?? 0)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      {peers.length > 16 && (
        <p class="quiet">{peers.length - 16} more ranks have this step: sort the table below.</p>
      )}
      <p>
        <TimelineLink row={step}>
          Show this step in the timeline
        </TimelineLink>{" "}
        <span class="quiet">
          busy {shareText((step.busy_ns ?? 0) / Math.max(1, step.duration_ns ?? 0))}, {step.works ?? 0}{" "}
          pieces of work
        </span>
      </p>
    </aside>
  );
}
