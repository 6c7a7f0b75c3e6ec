// The report: reads the data island and shows it.
import { render } from "preact";
import { readRun } from "./run/data";
import { Broken, Frame } from "./shell/frame";
import { listenToKeys } from "./shell/keys";

const root = document.getElementById("app");
if (root) {
  try {
    const run = readRun();
    if (run.findings[0]) document.title = `${run.findings[0].headline.slice(0, 200)} - debrief`; // cleaned, as all text
    listenToKeys();
    render(<Frame run={run} />, root);
  } catch (error) {
    render(<Broken reason={error instanceof Error ? error.message : String(error)} />, root);
  }
}
