// Flame graphs: speedscope, which lies beside the page, in a frame of its own. The frame shows another page: what is in
// it cannot reach this one when the report is opened from a file.
//
// speedscope is given a profile in one of two ways: from file:// it loads the script NAME.js itself
// (#localProfilePath=, always a file:///), and from a server it fetches a blob that is made here of the same script.
import { useEffect, useMemo, useState } from "preact/hooks";
import { Select } from "../parts/choices";
import { jobName } from "../parts/columns";
import { count, duration, shareText } from "../parts/format";
import { Load } from "../parts/loading";
import { fileName, profileNeeds, recordProfile } from "../profile/data";
import type { Run } from "../run/data";
import { loadJson, Once } from "../run/islands";
import { setParams } from "../shell/route";
import type { View, ViewProps } from "../view";

const id = "profile_flames";

interface Flame {
  name: string; // report_data/speedscope/NAME.js
  what: "timeline" | "compile";
  job?: number;
  rank?: number;
  input?: number;
  total_ns?: number;
  left_out_ns?: number;
  compilations?: number;
  shown?: number;
}

interface Flames {
  beside: boolean; // not in a page of one file
  timelines: number;
  profiles: Flame[];
}

const island = new Once(async () => (await loadJson("flames")) as Flames);

function labelOf(run: Run, flame: Flame): string {
  if (flame.what === "compile") return "compile time by stack, all ranks";
  const job = run.jobs.length > 1 ? `${jobName(run, flame.job)}, ` : "";
  const who = flame.rank === undefined ? fileName(run, flame.input) : `rank ${flame.rank}`;
  return `${job}${who}: threads and streams`;
}

const folder = () => new URL("report_data/speedscope/", location.href.split("#")[0]);

declare global {
  interface Window {
    speedscope?: { loadFileFromBase64: (name: string, packed: string) => void };
  }
}

// The profile that a script hands over, as the address of a blob.
function blobOf(name: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    window.speedscope = {
      loadFileFromBase64: (_, packed) => {
        const binary = atob(packed);
        const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
        resolve(URL.createObjectURL(new Blob([bytes])));
      },
    };
    script.onload = () => script.remove();
    script.onerror = () => {
      script.remove();
      reject(new Error(`report_data/speedscope/${name}.js cannot be read`));
    };
    script.src = new URL(`${name}.js`, folder()).href;
    document.head.append(script);
  });
}

async function addressOf(flame: Flame): Promise<string> {
  const page = new URL("index.html", folder()).href;
  if (location.protocol === "file:") {
    const path = new URL(`${flame.name}.js`, folder()).pathname.replace(/^\//, "");
    return `${page}#localProfilePath=${encodeURIComponent(path)}&view=left-heavy`;
  }
  const blob = await blobOf(flame.name);
  return `${page}#profileURL=${encodeURIComponent(blob)}&view=left-heavy`;
}

// A frame that is never told a new address: speedscope reads it once.
function Frame({ flame, label }: { flame: Flame; label: string }) {
  const [source, setSource] = useState("");
  const [trouble, setTrouble] = useState("");
  useEffect(() => {
    let isShown = true;
    addressOf(flame).then(
      (address) => isShown && setSource(address),
      (error: Error) => isShown && setTrouble(error.message),
    );
    return () => {
      isShown = false;
    };
  }, [flame]);
  if (trouble) return <p class="empty">{trouble}</p>;
  if (!source) return null;
  return <iframe class="flame-frame" title={`Flame graph: ${label}`} src={source} />;
}

function SingleFile() {
  return (
    <>
      <h1>Flame graphs</h1>
      <section class="missing" aria-label="Nothing to show">
        <h2>A report of one file cannot hold flame graphs.</h2>
        <p>
          Write the report without <code>--single-file</code>, or make files for speedscope.app:{" "}
          <code>debrief convert PATH --to collapsed -o stacks.txt</code> for the time of threads,{" "}
          <code>debrief compile PATH --speedscope</code> for compile time.
        </p>
      </section>
    </>
  );
}

function Shown({ flames, run, route }: ViewProps & { flames: Flames }) {
  const shown = useMemo(
    () =>
      flames.profiles.filter(
        (one) => run.job === null || one.job === undefined || one.job === run.job,
      ),
    [flames, run.job],
  );
  if (!flames.beside) return <SingleFile />;
  const wanted = route.params.get("flame");
  const rank = route.params.get("rank");
  const flame =
    shown.find((one) => one.name === wanted) ??
    shown.find((one) => rank !== null && String(one.rank) === rank) ??
    shown[0];
  if (!flame) {
    return (
      <section class="missing" aria-label="Nothing to show">
        <h2>The inputs have no stacks that took time.</h2>
        <p>Profile with with_stack=True to see the Python functions.</p>
      </section>
    );
  }
  return (
    <>
      <div class="profile-head">
        <h1>Flame graphs</h1>
        {shown.length === 1 ? (
          <span class="quiet">{labelOf(run, flame)}</span>
        ) : (
          <Select
            name="Profile"
            value={flame.name}
            options={shown.map((one) => [one.name, labelOf(run, one)])}
            onChoose={(name) => setParams(id, { flame: name, rank: null })}
          />
        )}
      </div>
      <section aria-label={labelOf(run, flame)}>
        <Frame key={flame.name} flame={flame} label={labelOf(run, flame)} />
        <p class="quiet left-out">{notes(flame, flames).join(" ")}</p>
      </section>
    </>
  );
}

function notes(flame: Flame, { timelines, profiles }: Flames): string[] {
  const list =
    flame.what === "timeline"
      ? [
          "Threads of the host and streams of devices are profiles of their own: choose one at the top of the frame. " +
            "Width is time; Python functions are there when the profile has with_stack=True.",
        ]
      : ["Width is the time of compilations, by the stack at which they began."];
  if (flame.total_ns && flame.left_out_ns)
    list.push(
      `Stacks of ${duration(flame.left_out_ns)} (${shareText(flame.left_out_ns / flame.total_ns)}) are left out, the shortest ones.`,
    );
  if ((flame.shown ?? 0) < (flame.compilations ?? 0))
    list.push(`The longest ${count(flame.shown ?? 0)} of ${count(flame.compilations ?? 0)} compilations.`);
  const ranks = profiles.filter((one) => one.what === "timeline").length;
  if (ranks < timelines) list.push(`${count(ranks)} of ${count(timelines)} timelines have one.`);
  list.push("The viewer is speedscope by Jamie Wong and others; its licence lies beside it.");
  return list;
}

export const view: View = {
  id,
  title: "Flame graphs",
  section: "Profile",
  order: 75,
  needs: profileNeeds(
    ["timeline_slice", "compile_span"],
    "Nothing with stacks was found: no profiles, no compile logs.",
    `${recordProfile} with_stack=True adds Python functions.`,
  ),
  component: (props) => <Load once={island}>{(flames) => <Shown {...props} flames={flames} />}</Load>,
};
