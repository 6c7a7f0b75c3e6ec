// Island "story" (src/outputs/report/html/story.cc): the picture and the Markdown of each job's verdict, and the rows
// behind the evidence. There when the run has findings.
import { clean } from "./clean";
import type { Finding, Run } from "./data";
import { loadJson, Once } from "./islands";

export type EvidenceRow = Record<string, unknown>;

interface JobStory {
  job: number | null;
  svg: string; // "": nothing could be drawn
  markdown: string;
}

export interface Story {
  jobs: JobStory[];
  evidence: Record<string, EvidenceRow[][] | undefined>; // by finding, then by sentence
}

export const storyIsland = new Once(async () => {
  const raw = (await loadJson("story")) as Story;
  clean(raw.evidence);
  return raw;
});

// Of the job that the first finding is about.
export function storyOf(story: Story, run: Run, finding: Finding): JobStory | undefined {
  const job = finding.job ?? run.job;
  return story.jobs.find((one) => one.job === job) ?? (run.jobs.length < 2 ? story.jobs[0] : undefined);
}
