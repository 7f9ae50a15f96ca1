// SPDX-License-Identifier: MIT
// The page: what picture there is, when a request is sent, what is done with the answer.
import { Canvas } from "./canvas.js";
import { makeChoice } from "./controls.js";
import { compareFormats, lookAt, outputName, titles } from "./formats.js";
import { Steppable } from "./history.js";
import { hints, listRegions, makeFinds, markedSentence, showUnhidden } from "./marked.js";
import { applyState, chooseFilter, chosen, describe, makeControls, mark, outputFormat, parseState, reset, setOutput, stateText, written } from "./parameters.js";
import { Regions } from "./regions.js";
import { hasHidden, preview, send, settle } from "./request.js";
import { makeSample, samples } from "./samples.js";
import { searchFor } from "./searches.js";
import { languages } from "./snippets.js";
import { display, makeSources } from "./sources.js";
import { Strip } from "./strip.js";
import { compareBackends, copyCode, find, foldCode, hideAnswer, makeHold, nextTheme, offer, pend, readProblem, runOf, say, showAfter, showFacts, showNothing, showNotice, showProblem, showServer, showPlaceholder, showRuns, showStatistics, toast } from "./view.js";

const waiting = 150; // milliseconds without a change before a request is sent
let picture = null; // { file, url, width, height, type, animated, sample, seen, searched }
let taken = 0; // pictures so far
let token = "";
let timer = 0;
let running = null; // AbortController of the request under way
let answerUrl = null;
let last = null; // { run, blob, request, picture } of the answer that is shown
const unreachable = ["No answer.", "The server could not be reached, or closed the connection."];
let tool = "rectangle"; // what "Add one" adds
let regions, canvas, states, strip;
let language = languages[0];
let available = []; // searches of this server
let wanted = new Set(); // those that were used
let anyPicture = false; // the copied request searches, and has no boxes
let wasHiding = false;
const hiding = () => Boolean(chosen.filter.looks);
const nothingHidden = () => hiding() && regions.active.length === 0;
const request = () => describe(regions.active, picture.animated);
const searches = () => available.filter((name) => wanted.size === 0 || wanted.has(name)).join(",");

// What was answered before is not to be downloaded any more.
function changed() {
    clearTimeout(timer);
    running?.abort();
    pend();
    if (!picture) {
        return;
    }
    showHow();
    showCommand();
    if (!picture.seen) {
        return;
    }
    if (nothingHidden()) {
        showUntouched();
    }
    timer = setTimeout(() => {
        states.record();
        if (!nothingHidden()) {
            ask();
        }
    }, waiting);
}

function controlsChanged() {
    if (hiding() !== wasHiding) { // to hide something, one draws
        wasHiding = hiding();
        regions.setTool(wasHiding ? "rectangle" : "select");
    }
    toldRegions();
    strip.stale();
    changed();
}

// With regions the answer is shown whole; before is seen while a button is held.
function showHow() {
    const whole = hiding() || regions.active.length > 0;
    find("stage").classList.toggle("whole", whole);
    find("hold").hidden = !whole || nothingHidden();
    showUnhidden(chosen.filter, regions.active);
    ["finds", "marked"].forEach((id) => (find(id).hidden = !hiding()));
    find("scope").hidden = !hiding() || nothingHidden() || !searches();
    find("strip-actions").hidden = !hiding();
    offer(find("original"), picture.url, picture.sample && !hiding() ? picture.file.name : null);
}

function showUntouched() {
    last = null;
    mark(null);
    showNothing();
}

// --- the request ---

const operation = () => (hiding() ? "hidden" : chosen.filter.name);

function answerType() {
    const format = outputFormat();
    const own = written.includes(picture.type.replace("image/", "")) ? picture.type : "image/jpeg";
    return chosen.filter.json ? "application/json" : format ? `image/${format}` : own;
}

function showCommand() {
    const name = outputName(picture.file.name, operation(), answerType());
    const boxes = hiding() && (anyPicture || nothingHidden()) && searches() ? describe([], picture.animated, searches()) : request();
    find("code").textContent = language[1]({ request: boxes, origin: location.origin, fileName: picture.file.name, outputName: name, token });
}

async function ask() {
    const controller = new AbortController();
    running = controller;
    find("frame").classList.add("busy");
    find("result").setAttribute("aria-busy", "true");
    try {
        const asked = { request: request(), picture };
        const { answer, blob, milliseconds: roundTrip } = await send(asked.request, picture, token, controller.signal);
        if (answer.ok && hiding() && !hasHidden(asked.request, answer)) {
            fail("Nothing was hidden.", "There is nothing to download.");
        } else {
            await (answer.ok ? showAnswer(answer, blob, roundTrip, asked, controller.signal) : refuse(answer, blob));
        }
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
    hideAnswer();
}

async function showAnswer(answer, blob, roundTrip, asked, signal) {
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
    if (signal.aborted) {
        return; // changed while it was shown
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
    await settle(image, blob, token);
    return `${image.naturalWidth} × ${image.naturalHeight} ${titles[blob.type]}`;
}

// --- the picture ---

async function take(file, sample) {
    const turn = ++taken;
    const looked = await lookAt(file);
    let url = URL.createObjectURL(file);
    let seen = await display(url);
    let wrong = null;
    if (!seen && turn === taken) {
        URL.revokeObjectURL(url);
        wrong = await preview(file, looked, token);
        url = wrong.url ?? "";
        seen = turn === taken && Boolean(url) && await display(url);
    }
    if (turn !== taken) {
        URL.revokeObjectURL(url); // another one was given meanwhile
        return;
    }
    leave();
    picture = { file, url, sample, seen, searched: new Set(), width: seen ? find("before").naturalWidth : 1, height: seen ? find("before").naturalHeight : 1, ...looked };
    await arrive(wrong);
}

function leave() {
    clearTimeout(timer);
    running?.abort();
    if (strip.current) {
        Object.assign(strip.current, { regions: regions.list, searched: picture.searched });
    }
    URL.revokeObjectURL(picture?.url);
}

async function arrive(wrong) {
    const { file, sample, seen, width, height } = picture;
    find("frame").hidden = !seen;
    ["tools", "zoom"].forEach((id) => (find(id).hidden = !seen));
    showAfter(false);
    find("samples").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.sample === sample)));
    const entry = strip.enter(file);
    picture.searched = entry?.searched ?? picture.searched;
    regions.setPicture(width, height);
    regions.setAll(entry?.regions ?? []);
    canvas.setPicture(width, height);
    toldRegions();
    changed();
    if (!seen) {
        await (wrong.answer ? refuse(wrong.answer, wrong.blob) : fail(...unreachable));
    }
}

async function takeFiles(files) {
    strip.open(files);
    await take(files[0], null);
}

// --- states ---

const sampleOf = (title) => samples.find((sample) => sample.title === title);

// Puts a state of the history or the address back.
async function restore({ text, file, sample, list }) {
    const state = parseState(text);
    if (file !== picture?.file) {
        await take(file, sample);
    }
    if (state) {
        applyState(state);
        regions.setAll(list ? list.map((region) => ({ ...region })) : state.regions);
        controlsChanged();
    }
}

// What a region is, without what shows it.
const plainRegion = ({ kind, x, y, w, h, points, found, score, kept }) => ({ kind, x, y, w, h, points, found, score, kept });

async function begin() {
    const text = location.hash.slice(1);
    const state = parseState(text); // an address that names no sample means the landscape
    const sample = sampleOf(state?.sample) ?? (state ? sampleOf("Landscape") : samples[0]);
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
    const read = () => ({ text: stateText(regions.active, picture.sample), list: regions.list.map(plainRegion), picture: picture.file, file: picture.file, sample: picture.sample });
    states = new Steppable(read, restore, (undo, redo) => {
        find("undo").disabled = !undo;
        find("redo").disabled = !redo;
    });
    find("undo").addEventListener("click", () => states.step(-1));
    find("redo").addEventListener("click", () => states.step(1));
    addEventListener("hashchange", follow);
}

// --- regions ---

// After whatever happened to tool, selection and shapes.
function toldRegions() {
    if (!regions) {
        return;
    }
    find("shapes").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.tool === regions.tool)));
    find("delete").disabled = !regions.selected;
    find("clear").disabled = regions.list.length === 0;
    find("finish").hidden = (regions.path?.length ?? 0) < 3;
    const label = `Add ${tool === "ellipse" ? "an" : "a"} ${tool} in the middle`;
    find("add").setAttribute("aria-label", label);
    find("add").title = label;
    find("region-count").textContent = regions.active.length ? `${regions.active.length} marked` : hiding() ? "Nothing yet" : "Whole picture";
    listRegions(regions, find("region-list"));
    say(find("marked"), picture ? markedSentence(regions, picture.searched, available) : "");
}

async function search(name, button) {
    const asked = picture;
    if (!asked?.seen) {
        return; // boxes need a picture that they lie on
    }
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    const { found, answer, blob } = await searchFor(asked, name, token).catch(() => ({}));
    button.disabled = false;
    button.removeAttribute("aria-busy");
    if (found && asked === picture) { // no other was given meanwhile
        wanted.add(name);
        asked.searched.add(name);
        regions.addBoxes(found, name);
    } else if (asked === picture) {
        await (answer ? refuse(answer, blob) : fail(...unreachable));
    }
}

function makeTools() {
    regions = new Regions(find("overlay"), () => { toldRegions(); strip.stale(); changed(); }, toldRegions);
    canvas = new Canvas(find("stage"), find("frame"), () => regions.giveUp());
    find("shapes").addEventListener("click", ({ target }) => {
        const chosenTool = target.closest("[data-tool]")?.dataset.tool;
        if (chosenTool) {
            tool = chosenTool === "select" ? tool : chosenTool;
            regions.setTool(chosenTool);
            toast(hints[chosenTool]);
        }
    });
    find("stage").addEventListener("pointerdown", () => toast("")); // who draws has read it
    document.addEventListener("keydown", ({ key }) => key === "Escape" && !document.querySelector("dialog[open]") && regions.setTool("select"));
    const actions = {
        add: () => regions.add(tool), finish: () => regions.closePath(),
        delete: () => regions.remove(regions.selected), clear: () => regions.clear(),
        "zoom-in": () => canvas.zoomBy(2), "zoom-out": () => canvas.zoomBy(0.5), "zoom-fit": () => (canvas.fitted ? canvas.zoom(1) : canvas.fit()),
    };
    Object.entries(actions).forEach(([id, action]) => find(id).addEventListener("click", action));
}

// --- the rest ---

function makeRest() {
    strip = new Strip((entry) => take(entry.file, null), (entry, animated) => {
        const list = (entry === strip.current ? regions.list : entry.regions) ?? [];
        const active = list.filter((region) => !region.kept);
        return active.length > 0 ? describe(active, animated) : list.length > 0 || !searches() ? null : describe([], animated, searches());
    }, () => token);
    makeChoice(find("scope"), "scope", [["boxes", "these boxes"], ["any", "find in any picture"]], (name) => {
        anyPicture = name === "any";
        showCommand();
    });
    makeHold();
    foldCode();
    find("hide-instead").addEventListener("click", () => chooseFilter("redact"));

    makeChoice(find("languages"), "language", languages.map((one) => [one[0], one[0]]), (name) => {
        language = languages.find((one) => one[0] === name);
        showCommand();
    });
    find("theme").addEventListener("click", nextTheme);
    find("copy").addEventListener("click", copyCode);
    find("compare").addEventListener("click", () => last && compareBackends(last, token, () => last));
    find("compare-formats").addEventListener("click", () => compareFormats({ request: request(), picture, token, name: operation() },
        (format, quality) => setOutput({ format, quality })));
    find("formats-close").addEventListener("click", () => find("formats").close());
    find("reset").addEventListener("click", reset);
    find("controls").addEventListener("submit", (event) => event.preventDefault());
    find("token").addEventListener("input", () => {
        token = find("token").value.trim();
        picture?.seen === false ? take(picture.file, picture.sample) : changed();
    });
}

makeTools();
makeRest();
makeControls(controlsChanged);
makeSources(takeFiles, (file, title) => { strip.open([]); take(file, title); });
makeStates();
showServer().then((names) => {
    available = names;
    find("finds").replaceChildren(...makeFinds(names, search));
    toldRegions();
    if (picture?.seen) {
        showCommand();
    }
}).catch(() => {});
begin();
