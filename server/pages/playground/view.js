// SPDX-License-Identifier: MIT
// What the daemon answered, shown.
import { element } from "./controls.js";
import { same, send, timings } from "./request.js";

export const find = (id) => document.getElementById(id);

export function bytes(count) {
    return count < 1000 ? `${count} B` : count < 999500 ? `${Math.round(count / 1000)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

// 155000, 29000 -> "155 to 29 kB"
function change(before, after) {
    const [first, second] = [bytes(before), bytes(after)];
    return first.split(" ")[1] === second.split(" ")[1] ? `${first.split(" ")[0]} to ${second}` : `${first} to ${second}`;
}

export function milliseconds(value) {
    return `${value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0)} ms`;
}

const stageTitles = {
    queue: "waiting", decode: "decoding", detect: "searching", upload: "to the GPU", filter: "filtering", download: "from the GPU", encode: "encoding",
};

// An answer's { backend, stages, total, roundTrip }; stages of the GPU only where it was used.
export function runOf(answer, roundTrip) {
    const found = timings(answer.headers.get("Server-Timing"));
    return {
        backend: answer.headers.get("X-Backend"),
        stages: found.filter(([name, value]) => name in stageTitles && (value > 0 || !["upload", "download"].includes(name))),
        total: found.find(([name]) => name === "total")?.[1] ?? 0,
        roundTrip,
    };
}

// The line on the picture, and the stages as one bar with the longest named below it.
export function showFacts(run, before, after, what) {
    find("facts").replaceChildren(element("strong", {}, `${milliseconds(run.total)} · ${change(before, after)}`, element("span", {}, ` · ${run.backend}`)), " ", element("span", {}, what));
    const sum = run.stages.reduce((all, [, value]) => all + value, 0) || 1;
    find("stages").replaceChildren(...run.stages.map(([name, value]) => {
        const part = element("div", { class: `fill ${name}` });
        part.style.width = `${(value / sum) * 100}%`;
        return part;
    }));
    const named = run.stages.filter(([, value]) => value > 0.02 * sum);
    find("legend").replaceChildren(...named.map(([name, value]) => element("span", {}, element("i", { class: name }), `${stageTitles[name]} ${milliseconds(value).slice(0, -3)}`)));
}

// One list a run, one row a stage, all on the same scale.
export function showRuns(runs) {
    const most = Math.max(...runs.map((run) => run.total)) || 1;
    find("timing").hidden = runs[0].stages.length === 0;
    find("runs").replaceChildren(...runs.map((run) => element("section", { class: "run" }, element("h2", {}, run.backend),
        element("dl", { class: "stages" }, ...run.stages.map(([name, value]) => stageRow(stageTitles[name], value, value / most, name)),
            stageRow("in the server", run.total), stageRow("seen from here", run.roundTrip)))));
}

function stageRow(title, value, part, name) {
    const track = element("dd", { "aria-hidden": "true" });
    if (part !== undefined) {
        const fill = element("div", { class: `fill ${name}` });
        fill.style.width = `${Math.min(100, part * 100)}%`;
        track.className = "track";
        track.append(fill);
    }
    return element("div", {}, element("dt", {}, title), track, element("dd", {}, milliseconds(value)));
}

// What a GPU has answered, once more by the CPU, beside it. `shown` gives the answer that is seen then.
export async function compareBackends(before, token, shown) {
    const { path, pairs } = before.request;
    const again = { path, pairs: [...pairs.filter(([name]) => name !== "backend"), ["backend", "cpu"]] };
    const { answer, blob, milliseconds: roundTrip } = await send(again, before.picture, token).catch(() => ({ answer: { ok: false } }));
    const verdict = !answer.ok ? "No answer from the CPU." : await same(before.blob, blob) ? "Both answers have the same bytes." : "The answers differ.";
    if (before !== shown()) {
        return; // outdated meanwhile
    }
    showRuns(answer.ok ? [before.run, runOf(answer, roundTrip)] : [before.run]);
    find("compared").textContent = verdict;
}

// --- statistics ---

const colours = { red: "red", green: "green", blue: "blue", gray: "gray", alpha: "alpha" };

function histogram(channels) {
    const namespace = "http://www.w3.org/2000/svg";
    const plot = document.createElementNS(namespace, "svg");
    const most = Math.sqrt(Math.max(1, ...channels.flatMap((channel) => channel.histogram)));
    plot.setAttribute("viewBox", "0 0 255 100");
    plot.setAttribute("preserveAspectRatio", "none");
    plot.setAttribute("role", "img");
    plot.setAttribute("aria-label", `Histograms of ${channels.map((channel) => channel.name).join(", ")}; heights are square roots`);
    channels.forEach((channel) => {
        const line = document.createElementNS(namespace, "path");
        line.setAttribute("class", colours[channel.name] ?? "gray");
        line.setAttribute("d", `M${channel.histogram.map((count, i) => `${i},${(100 - (Math.sqrt(count) / most) * 97).toFixed(1)}`).join("L")}`);
        plot.append(line);
    });
    return plot;
}

function cell(value) {
    return element("td", {}, value === null ? "–" : Number.isInteger(value) ? String(value) : value.toFixed(1));
}

export function showStatistics(page) {
    const columns = ["channel", "min", "max", "mean", "deviation"];
    const head = element("tr", {}, ...columns.map((name) => element("th", { scope: "col" }, name)));
    const rows = page.channels.map((channel) => element("tr", {}, element("th", { scope: "row" }, channel.name),
        cell(channel.minimum), cell(channel.maximum), cell(channel.mean), cell(channel.standard_deviation)));
    find("statistics").replaceChildren(histogram(page.channels), element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
    find("statistics").hidden = false;
}

// The tiny picture takes the place of the result.
export function showPlaceholder(page) {
    const names = { blurhash: "BlurHash", thumbhash: "ThumbHash", dominant: "Dominant", average: "Average" };
    const rows = Object.entries(names).map(([key, title]) => element("tr", {}, element("th", { scope: "row" }, title), element("td", { class: "hash" }, page[key])));
    find("frame").classList.add("stretched"); // its few pixels have nearly the shape of the picture
    find("after").src = page.data_url;
    find("statistics").replaceChildren(element("table", {}, element("tbody", {}, ...rows)));
    find("statistics").hidden = false;
}

// --- problems ---

// What is said already is not said again to those who listen.
export function say(place, sentence) {
    if (place.textContent !== sentence) {
        place.textContent = sentence;
    }
}

let fading = 0;

// A sentence over the picture, which leaves by itself.
export function toast(sentence) {
    clearTimeout(fading);
    say(find("hint"), sentence);
    fading = setTimeout(() => say(find("hint"), ""), 6000);
}

export function showProblem(title, sentence) {
    const place = find("problem");
    place.hidden = !title;
    place.replaceChildren();
    if (title) {
        place.append(element("strong", {}, title), ` ${sentence}`);
    }
}

export function showNotice(sentence) {
    find("notice").textContent = sentence ?? "";
    find("notice").hidden = !sentence;
}

// A refusal as the daemon tells it, or whatever stands before it.
export async function readProblem(answer, blob) {
    if (answer.headers.get("Content-Type")?.startsWith("application/problem+json")) {
        return JSON.parse(await blob.text());
    }
    return { title: `Status ${answer.status}`, detail: answer.statusText || "the server gave no reason" };
}

// --- the picture ---

export function showAfter(visible) {
    ["after", "divider", "split"].forEach((id) => (find(id).hidden = !visible));
}

export function hideAnswer() {
    ["download", "statistics", "timing", "compare-formats"].forEach((id) => (find(id).hidden = true));
}

// The picture as it came, without an answer.
export function showNothing() {
    showProblem(null);
    showNotice(null);
    showAfter(false);
    find("frame").classList.remove("stale", "busy");
    find("facts").textContent = "Nothing is hidden yet.";
    hideAnswer();
}

// Narrow windows have the code folded away.
export function foldCode() {
    const narrow = matchMedia("(max-width: 820px)");
    const fold = () => (find("command").open = !narrow.matches);
    narrow.addEventListener("change", fold);
    fold();
}

// Before is seen as long as the button is held, by a finger or a key.
export function makeHold() {
    const before = (held) => () => find("stage").classList.toggle("held", held);
    const button = find("hold");
    button.addEventListener("pointerdown", before(true));
    ["pointerup", "pointercancel", "pointerleave", "blur", "keyup"].forEach((name) => button.addEventListener(name, before(false)));
    button.addEventListener("keydown", ({ key }) => [" ", "Enter"].includes(key) && before(true)());
    button.addEventListener("contextmenu", (event) => event.preventDefault()); // a long touch
}

export async function copyCode() {
    await navigator.clipboard?.writeText(find("code").textContent).catch(() => {});
    getSelection().selectAllChildren(find("code")); // where there is no clipboard, Ctrl+C takes this
    find("copy").textContent = navigator.clipboard ? "Copied" : "Selected";
    setTimeout(() => (find("copy").textContent = "Copy"), 1500);
}

// --- the server ---

// Ends with the names of the searches that can be used.
export async function showServer() {
    const [version, ready] = await Promise.all(["/version", "/readyz"].map((path) => fetch(path).then((answer) => answer.json())));
    find("version").textContent = version.version;
    find("backends").replaceChildren(...ready.backends.map((backend) =>
        element("li", { class: backend.state, title: backend.reason || backend.state }, backend.name, element("span", { class: backend.state === "serving" ? "hidden" : "" }, ` ${backend.state}`))));
    return Object.keys(version).filter((name) => version[name] === true); // detectors that can be used
}

export function offer(link, url, name) {
    link.hidden = !name;
    link.href = url;
    link.download = name ?? "";
    link.removeAttribute("aria-disabled");
}

// The answer is outdated, and the next one not there yet.
export function pend() {
    find("download").removeAttribute("href");
    find("download").setAttribute("aria-disabled", "true");
}

// --- colours ---

const themes = [["", "Auto", "as the system has them"], ["light", "Light", "light"], ["dark", "Dark", "dark"]];

export function nextTheme() {
    const now = themes.findIndex(([value]) => value === (document.documentElement.dataset.theme ?? ""));
    const [value, text, label] = themes[(now + 1) % themes.length];
    if (value) {
        document.documentElement.dataset.theme = value;
    } else {
        delete document.documentElement.dataset.theme;
    }
    find("theme").textContent = text;
    find("theme").setAttribute("aria-label", `Colours: ${label}`);
}
