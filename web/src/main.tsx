// The report: reads the data island and shows it.
import { render } from "preact";
import { readRun } from "./data";
import { Broken, Frame } from "./frame";
import { listenToKeys } from "./keys";

const root = document.getElementById("app");
if (root) {
  try {
    const run = readRun();
    listenToKeys();
    render(<Frame run={run} />, root);
  } catch (error) {
    render(<Broken reason={error instanceof Error ? error.message : String(error)} />, root);
  }
}
