// SPDX-License-Identifier: MIT
// The page: what picture there is, when a request is sent, what is done with the answer.
import { Canvas } from "./canvas.js";
import { element, makeChoice } from "./controls.js";
import { foundSentence, searchFaces } from "./faces.js";
import { compareFormats, lookAt, opened, outputName, pastedName, titles } from "./formats.js";
import { Steppable } from "./history.js";
import { applyState, chosen, describe, makeControls, mark, outputFormat, parseState, reset, setOutput, stateText, written } from "./parameters.js";
import { listRegions, Regions } from "./regions.js";
import { same, send } from "./request.js";
import { makeSample, samples } from "./samples.js";
import { languages } from "./snippets.js";
import { find, nextTheme, offer, readProblem, runOf, say, showAfter, showFacts, showNotice, showProblem, showServer, showPlaceholder, showRuns, showStatistics } from "./view.js";

const waiting = 150; // milliseconds without a change before a request is sent
let picture = null; // { file, url, width, height, type, animated, sample }
let taken = 0; // pictures so far
let token = "";
let timer = 0;
let running = null; // AbortController of the request under way
let answerUrl = null;
let last = null; // { run, blob, request, picture } of the answer that is shown
const unreachable = ["No answer.", "The server could not be reached, or closed the connection."];
let tool = "rectangle"; // what "Add one" adds
let regions, canvas, states;
let language = languages[0];
const request = () => describe(regions.list, picture.animated);

function changed() {
    clearTimeout(timer);
    running?.abort();
    if (picture) {
        timer = setTimeout(() => { states.record(); ask(); }, waiting);
        showCommand();
    }
}

// --- the request ---

function operation() {
    return chosen.filter.looks ? "redacted" : chosen.filter.name;
}

function answerType() {
    const format = outputFormat();
    const own = written.includes(picture.type.replace("image/", "")) ? picture.type : "image/jpeg";
    return chosen.filter.json ? "application/json" : format ? `image/${format}` : own;
}

function showCommand() {
    const name = outputName(picture.file.name, operation(), answerType());
    find("code").textContent = language[1]({ request: request(), origin: location.origin, fileName: picture.file.name, outputName: name, token });
}

async function ask() {
    const controller = new AbortController();
    running = controller;
    find("frame").classList.add("busy");
    find("result").setAttribute("aria-busy", "true");
    try {
        const asked = { request: request(), picture };
        const { answer, blob, milliseconds: roundTrip } = await send(asked.request, picture, token, controller.signal);
        await (answer.ok ? showAnswer(answer, blob, roundTrip, asked) : refuse(answer, blob));
    } catch (error) {
        if (error.name !== "AbortError") {
            fail(...unreachable);
        }
    } finally {
        if (running === controller) {
            running = null;
            find("frame").classList.remove("busy");
            find("result").removeAttribute("aria-busy");
        }
    }
}

async function refuse(answer, blob) {
    const problem = await readProblem(answer, blob);
    fail(`${problem.title}.`, problem.detail);
    mark(problem.parameter, problem.detail);
    if (answer.status === 401) {
        find("access").hidden = false;
        find("access").open = true;
    }
}

function fail(title, sentence) {
    last = null;
    showProblem(title, sentence);
    showNotice(null);
    mark(null);
    find("frame").classList.add("stale");
    find("facts").textContent = "No answer for these parameters.";
    ["download", "statistics", "timing", "compare-formats"].forEach((id) => (find(id).hidden = true));
}

async function showAnswer(answer, blob, roundTrip, asked) {
    showProblem(null);
    mark(null);
    showNotice(answer.headers.get("X-Blurd-Notice"));
    last = { ...asked, run: runOf(answer, roundTrip), blob };
    showRuns([last.run]);
    find("compared").textContent = "";
    find("compare").hidden = last.run.backend.startsWith("cpu");
    find("frame").classList.remove("stale");
    find("statistics").hidden = true;
    find("compare-formats").hidden = Boolean(chosen.filter.json);
    showAfter(chosen.filter.name !== "stats");
    let what = chosen.filter.name === "stats" ? "Statistics" : chosen.filter.title;
    if (chosen.filter.json) {
        const show = chosen.filter.name === "stats" ? showStatistics : showPlaceholder;
        show(JSON.parse(await blob.text()));
    } else {
        what = await showPicture(blob);
    }
    offer(find("download"), answerUrl, outputName(picture.file.name, operation(), blob.type));
    showFacts(last.run, picture.file.size, blob.size, what);
}

async function showPicture(blob) {
    const image = find("after");
    const url = URL.createObjectURL(blob);
    find("frame").classList.remove("stretched");
    image.src = url;
    URL.revokeObjectURL(answerUrl);
    answerUrl = url;
    await image.decode().catch(() => {});
    return `${image.naturalWidth} × ${image.naturalHeight} ${titles[blob.type]}`;
}

// What a GPU has answered, once more by the CPU, beside it.
async function compare() {
    const before = last;
    if (!before) {
        return;
    }
    const { path, pairs } = before.request;
    const again = { path, pairs: [...pairs.filter(([name]) => name !== "backend"), ["backend", "cpu"]] };
    const { answer, blob, milliseconds: roundTrip } = await send(again, before.picture, token).catch(() => ({ answer: { ok: false } }));
    const verdict = !answer.ok ? "No answer from the CPU." : await same(before.blob, blob) ? "Both answers have the same bytes." : "The answers differ.";
    if (before !== last) {
        return; // outdated meanwhile
    }
    showRuns(answer.ok ? [before.run, runOf(answer, roundTrip)] : [before.run]);
    find("compared").textContent = verdict;
}

// --- the picture ---

async function take(file, sample) {
    const image = find("before");
    const url = URL.createObjectURL(file);
    const turn = ++taken;
    image.src = url;
    const seen = await image.decode().then(() => true, () => false);
    const looked = await lookAt(file);
    if (turn !== taken) {
        URL.revokeObjectURL(url); // another one was given meanwhile
        return;
    }
    const [width, height] = seen ? [image.naturalWidth, image.naturalHeight] : [1, 1];
    if (picture) {
        URL.revokeObjectURL(picture.url);
    }
    picture = { file, url, width, height, sample, ...looked };
    find("frame").hidden = !seen;
    ["tools", "zoom"].forEach((id) => (find(id).hidden = !seen));
    find("unseen").hidden = seen;
    showAfter(false);
    offer(find("original"), url, sample ? file.name : null);
    find("samples").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.sample === sample)));
    regions.setPicture(width, height);
    canvas.setPicture(width, height);
    toldRegions();
    changed();
}

function takeFirst(list) {
    const file = [...(list ?? [])][0];
    if (file) {
        take(file.name ? file : new File([file], pastedName(file.type), { type: file.type }), null);
    }
    return Boolean(file);
}

function makeSources() {
    samples.forEach((sample) => {
        const button = element("button", { type: "button", "data-sample": sample.title }, sample.title);
        button.addEventListener("click", async () => take(await makeSample(sample), sample.title));
        find("samples").append(button);
    });
    find("file").accept = opened;
    find("file").addEventListener("change", () => {
        takeFirst(find("file").files);
        find("file").value = ""; // the same file may be chosen again
    });
    document.addEventListener("paste", (event) => takeFirst(event.clipboardData?.files) && event.preventDefault());
    document.addEventListener("dragover", (event) => {
        event.preventDefault();
        find("stage").classList.add("dragging");
    });
    document.addEventListener("dragleave", (event) => event.relatedTarget ?? find("stage").classList.remove("dragging"));
    document.addEventListener("drop", (event) => {
        event.preventDefault();
        find("stage").classList.remove("dragging");
        takeFirst(event.dataTransfer?.files);
    });
}

// --- states ---

const sampleOf = (title) => samples.find((sample) => sample.title === title);

// Puts a state of the history or the address back.
async function restore({ text, file, sample }) {
    const state = parseState(text);
    if (file !== picture?.file) {
        await take(file, sample);
    }
    if (state) {
        regions.setAll(state.regions);
        applyState(state);
    }
}

async function begin() {
    const text = location.hash.slice(1);
    const sample = sampleOf(parseState(text)?.sample) ?? samples[0];
    const file = await makeSample(sample);
    if (taken === 0) {
        await restore({ text, file, sample: sample.title });
    }
}

// The address was changed by hand.
async function follow() {
    const text = location.hash.slice(1);
    const sample = sampleOf(parseState(text)?.sample);
    const other = sample && sample.title !== picture.sample;
    await restore({ text, file: other ? await makeSample(sample) : picture.file, sample: other ? sample.title : picture.sample });
}

function makeStates() {
    const read = () => ({ text: stateText(regions.list, picture.sample), picture: picture.file, file: picture.file, sample: picture.sample });
    states = new Steppable(read, restore, (undo, redo) => {
        find("undo").disabled = !undo;
        find("redo").disabled = !redo;
    });
    find("undo").addEventListener("click", () => states.step(-1));
    find("redo").addEventListener("click", () => states.step(1));
    addEventListener("hashchange", follow);
}

// --- regions ---

const hints = {
    select: "",
    rectangle: "Drag over the picture.",
    ellipse: "Drag over the picture.",
    polygon: "Tap the points; close it at the first one, by a double click or Enter. Escape gives up.",
};

// After whatever happened to tool, selection and shapes.
function toldRegions() {
    if (!regions) {
        return;
    }
    find("shapes").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.tool === regions.tool)));
    say(find("hint"), hints[regions.tool]);
    find("delete").disabled = !regions.selected;
    find("clear").disabled = regions.list.length === 0;
    find("finish").hidden = (regions.path?.length ?? 0) < 3;
    const label = `Add ${tool === "ellipse" ? "an" : "a"} ${tool} in the middle`;
    find("add").setAttribute("aria-label", label);
    find("add").title = label;
    find("region-count").textContent = regions.list.length || "everywhere";
    listRegions(regions, find("region-list"));
}

async function findFaces() {
    const asked = picture;
    find("faces").disabled = true;
    const { found, answer, blob } = await searchFaces(asked, find("faces").dataset.names, token).catch(() => ({}));
    find("faces").disabled = false;
    if (found && asked === picture) { // no other was given meanwhile
        regions.addBoxes(Object.values(found).flat());
        say(find("hint"), foundSentence(found));
    } else if (asked === picture) {
        await (answer ? refuse(answer, blob) : fail(...unreachable));
    }
}

function makeTools() {
    regions = new Regions(find("overlay"), () => { toldRegions(); changed(); }, toldRegions);
    canvas = new Canvas(find("stage"), find("frame"), () => regions.giveUp());
    find("shapes").addEventListener("click", ({ target }) => {
        const chosenTool = target.closest("[data-tool]")?.dataset.tool;
        if (chosenTool) {
            tool = chosenTool === "select" ? tool : chosenTool;
            regions.setTool(chosenTool);
        }
    });
    find("shapes").addEventListener("keydown", ({ key }) => key === "Escape" && regions.setTool("select"));
    find("stage").addEventListener("pointerdown", () => say(find("hint"), hints[regions.tool])); // what was found is no longer in the way
    const actions = {
        add: () => { regions.setTool("select"); regions.add(tool); }, faces: findFaces, finish: () => regions.closePath(),
        delete: () => regions.remove(regions.selected), clear: () => regions.clear(),
        "zoom-in": () => canvas.zoomBy(2), "zoom-out": () => canvas.zoomBy(0.5), "zoom-fit": () => (canvas.fitted ? canvas.zoom(1) : canvas.fit()),
    };
    Object.entries(actions).forEach(([id, action]) => find(id).addEventListener("click", action));
}

// --- the rest ---

async function copy() {
    await navigator.clipboard?.writeText(find("code").textContent).catch(() => {});
    getSelection().selectAllChildren(find("code")); // where there is no clipboard, Ctrl+C takes this
    find("copy").textContent = navigator.clipboard ? "Copied" : "Selected";
    setTimeout(() => (find("copy").textContent = "Copy"), 1500);
}

function makeRest() {
    makeChoice(find("languages"), "language", languages.map((one) => [one[0], one[0]]), (name) => {
        language = languages.find((one) => one[0] === name);
        showCommand();
    });
    find("theme").addEventListener("click", nextTheme);
    find("copy").addEventListener("click", copy);
    find("compare").addEventListener("click", compare);
    find("compare-formats").addEventListener("click", () => compareFormats({ request: request(), picture, token, name: operation() },
        (format, quality) => setOutput({ format, quality })));
    find("formats-close").addEventListener("click", () => find("formats").close());
    find("reset").addEventListener("click", reset);
    find("controls").addEventListener("submit", (event) => event.preventDefault());
    find("token").addEventListener("input", () => { token = find("token").value.trim(); changed(); });
}

makeTools();
makeControls(changed);
makeSources();
makeStates();
makeRest();
showServer().catch(() => {});
begin();
