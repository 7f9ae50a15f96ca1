// SPDX-License-Identifier: MIT
// The page: what is chosen, when it is sent, what is done with the answer.
import { element, makeChoice, makeFields, pairsOf, Steps } from "./controls.js";
import { foundSentence, searchFaces } from "./faces.js";
import { listRegions, regionEntry, Regions, regionText } from "./regions.js";
import { curlCommand, lookAt, outputName, pastedName, same, send, titles } from "./request.js";
import { makeSample, samples } from "./samples.js";
import { bytes, find, fitFrame, nextTheme, offer, readProblem, runOf, showAfter, showNotice, showProblem, showServer, showSplit, showPlaceholder, showRuns, showStatistics } from "./view.js";

const table = JSON.parse(find("table").textContent);
const waiting = 150; // milliseconds without a change before a request is sent
let picture = null; // { file, url, width, height, type, animated }
let taken = 0; // pictures so far
let filter = table.filters[0];
let look = "pixelate"; // of a redaction
let token = "";
let timer = 0;
let running = null; // AbortController of the request under way
let answerUrl = null;
let last = null; // { run, blob, request, picture } of the answer that is shown
const unreachable = ["No answer.", "The server could not be reached, or closed the connection."];
let tool = "rectangle"; // what "Add one" adds

// --- the parameters ---

const byName = (name) => table.filters.find((one) => one.name === name);
const panels = {};
const shared = {};
let steps;
let made = 0; // panels, for the names of their fields

function changed() {
    clearTimeout(timer);
    running?.abort();
    if (picture) {
        timer = setTimeout(ask, waiting);
        showCommand();
    }
}

function makePanel(one) {
    const node = element("div", { class: "panel", hidden: true });
    const panel = { node, fields: [] };
    if (one.looks) {
        const looks = element("fieldset", { class: "looks" }, element("legend", {}, "Look"));
        makeChoice(looks, "look", one.looks.map((name) => [name, byName(name).title]), chooseLook);
        node.append(looks);
        panel.looks = Object.fromEntries(one.looks.map((name) => [name, makePanel(byName(name))]));
        node.append(...Object.values(panel.looks).map((inner) => inner.node));
    } else if (one.steps) {
        steps = new Steps(node, one.steps.map(byName), one.most, changed);
    } else {
        made += 1;
        panel.fields = makeFields(one.own ?? [], `${one.name}${made}`, node, changed);
    }
    return panel;
}

function makeControls() {
    table.filters.forEach((one) => {
        panels[one.name] = makePanel(one);
        find("own").append(panels[one.name].node);
    });
    for (const group of ["region", "output", "input"]) {
        shared[group] = makeFields(table[group], group, find(`${group}-fields`), changed);
    }
    makeChoice(find("filters"), "filter", table.filters.map((one) => [one.name, one.title]), chooseFilter);
    chooseLook(look);
}

function chooseLook(name) {
    look = name;
    Object.entries(panels.redact.looks).forEach(([one, panel]) => (panel.node.hidden = one !== name));
    changed();
}

function chooseFilter(name) {
    filter = byName(name);
    table.filters.forEach((one) => (panels[one.name].node.hidden = one !== filter));
    find("about").textContent = filter.about;
    find("output-group").hidden = Boolean(filter.json);
    shared.region.find((field) => field.name === "feather").node.hidden = Boolean(filter.json);
    changed();
}

function ownPairs() {
    if (filter.looks) {
        return [...pairsOf(panels.redact.looks[look].fields), ["mode", "redact"]];
    }
    return filter.steps ? [["ops", steps.text()]] : pairsOf(panels[filter.name].fields);
}

// invert and feather mean nothing without a region, and are refused. So are regions of a filter that moves pixels.
function regionPairs() {
    if (filter.whole) {
        return [];
    }
    const options = pairsOf(shared.region).filter(([name]) => !filter.json || name !== "feather");
    options.push(...(filter.name === "placeholder" ? [["mode", "redact"]] : []));
    const many = regions.list.length > 64; // the most that the parameter takes
    const list = many ? [["regions", JSON.stringify(regions.list.map(regionEntry))]] : regions.list.map((region) => ["region", regionText(region)]);
    return list.length === 0 ? [] : [...list, ...options];
}

function describe() {
    const output = filter.json ? [] : pairsOf(shared.output);
    const page = picture.animated ? [["page", "0"]] : [];
    return { path: `/${filter.looks ? look : filter.name}`, pairs: [...ownPairs(), ...regionPairs(), ...output, ...pairsOf(shared.input), ...page] };
}

function allFields() {
    const inner = Object.values(panels.redact.looks).flatMap((panel) => panel.fields);
    return [...Object.values(panels).flatMap((panel) => panel.fields), ...inner, ...Object.values(shared).flat()];
}

function fieldsInUse() {
    const own = filter.looks ? panels.redact.looks[look].fields : panels[filter.name].fields;
    return [...own, ...Object.values(shared).flat()];
}

// Shows at the field what the daemon says about the parameter of that name.
function mark(name, sentence) {
    allFields().forEach((field) => field.mark(null));
    const field = name && fieldsInUse().find((one) => one.name === name);
    field?.mark(sentence);
    const group = field?.node.closest("details");
    if (group) {
        group.open = true;
    }
    steps.mark(name === "ops" ? sentence : null);
    find("region-group").classList.toggle("group-wrong", name === "region");
}

function reset() {
    allFields().forEach((field) => field.reset());
    steps.reset();
    changed();
}

// --- the request ---

function operation() {
    return filter.looks ? "redacted" : filter.name;
}

function answerType() {
    const format = filter.json ? "" : shared.output.find((field) => field.name === "format").get();
    const same = picture.type === "image/heic" ? "image/jpeg" : picture.type;
    return filter.json ? "application/json" : format ? `image/${format}` : same;
}

function showCommand() {
    const output = outputName(picture.file.name, operation(), answerType());
    find("curl").textContent = curlCommand(describe(), location.origin, picture.file.name, output, token);
}

async function ask() {
    const controller = new AbortController();
    running = controller;
    find("frame").classList.add("busy");
    find("result").setAttribute("aria-busy", "true");
    try {
        const asked = { request: describe(), picture };
        const { answer, blob, milliseconds } = await send(asked.request, picture, token, controller.signal);
        await (answer.ok ? showAnswer(answer, blob, milliseconds, asked) : refuse(answer, blob));
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
    find("download").hidden = true;
    find("statistics").hidden = true;
    find("timing").hidden = true;
}

async function showAnswer(answer, blob, milliseconds, asked) {
    showProblem(null);
    mark(null);
    showNotice(answer.headers.get("X-Blurd-Notice"));
    last = { ...asked, run: runOf(answer, milliseconds), blob };
    showRuns([last.run]);
    find("compared").textContent = "";
    find("compare").hidden = last.run.backend.startsWith("cpu");
    find("frame").classList.remove("stale");
    find("statistics").hidden = true;
    showAfter(filter.name !== "stats");
    let what = filter.name === "stats" ? "Statistics" : filter.title;
    if (filter.json) {
        const show = filter.name === "stats" ? showStatistics : showPlaceholder;
        show(JSON.parse(await blob.text()));
    } else {
        what = await showPicture(blob);
    }
    offer(find("download"), answerUrl, outputName(picture.file.name, operation(), blob.type));
    find("facts").textContent = `${what}, ${bytes(picture.file.size)} in, ${bytes(blob.size)} out. Filtered by ${answer.headers.get("X-Backend")}.`;
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
    const request = { path, pairs: [...pairs.filter(([name]) => name !== "backend"), ["backend", "cpu"]] };
    const { answer, blob, milliseconds } = await send(request, before.picture, token).catch(() => ({ answer: { ok: false } }));
    const verdict = !answer.ok ? "No answer from the CPU." : await same(before.blob, blob) ? "Both answers have the same bytes." : "The answers differ.";
    if (before !== last) {
        return; // outdated meanwhile
    }
    showRuns(answer.ok ? [before.run, runOf(answer, milliseconds)] : [before.run]);
    find("compared").textContent = verdict;
}

// --- the picture ---

async function take(file, own) {
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
    picture = { file, url, width, height, ...looked };
    find("frame").hidden = !seen;
    find("tools").hidden = !seen;
    find("unseen").hidden = seen;
    showAfter(false);
    offer(find("original"), url, own ? null : file.name);
    regions.setPicture(width, height);
    fitFrame(width, height);
    toldRegions();
    changed();
}

function takeFirst(list) {
    const file = [...(list ?? [])][0];
    if (file) {
        take(file.name ? file : new File([file], pastedName(file.type), { type: file.type }), true);
    }
    return Boolean(file);
}

function makeSources() {
    samples.forEach((sample) => {
        const button = element("button", { type: "button" }, sample.title);
        button.addEventListener("click", async () => take(await makeSample(sample), false));
        find("samples").append(button);
    });
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

// --- regions ---

const hints = {
    select: "Drag a region or a corner. Keys: Tab to it, arrows move (Shift: ten times as far), Delete removes.",
    rectangle: "Drag over the picture.",
    ellipse: "Drag over the picture.",
    polygon: "Tap the points; close it at the first one, by a double click or Enter. Escape gives up.",
};
let regions;

// What is said already is not said again to those who listen.
function say(place, sentence) {
    if (place.textContent !== sentence) {
        place.textContent = sentence;
    }
}

// After whatever happened to tool, selection and shapes.
function toldRegions() {
    if (!regions) {
        return;
    }
    find("shapes").querySelectorAll("button").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.tool === regions.tool)));
    say(find("hint"), regions.tool === "select" && regions.list.length === 0 ? "Without a region the filter acts everywhere." : hints[regions.tool]);
    find("delete").disabled = !regions.selected;
    find("clear").disabled = regions.list.length === 0;
    find("finish").hidden = (regions.path?.length ?? 0) < 3;
    find("add").textContent = `Add ${tool === "ellipse" ? "an" : "a"} ${tool}`;
    find("region-count").textContent = regions.list.length || "everywhere";
    listRegions(regions, find("region-list"));
}

async function findFaces() {
    const asked = picture;
    find("faces").disabled = true;
    const { faces, answer, blob } = await searchFaces(asked, token).catch(() => ({}));
    find("faces").disabled = false;
    if (faces && asked === picture) { // no other was given meanwhile
        regions.addBoxes(faces);
        say(find("hint"), foundSentence(faces.length));
    } else if (asked === picture) {
        await (answer ? refuse(answer, blob) : fail(...unreachable));
    }
}

function makeTools() {
    regions = new Regions(find("overlay"), () => { toldRegions(); changed(); }, toldRegions);
    find("shapes").addEventListener("click", ({ target }) => {
        if (target.dataset.tool) {
            tool = target.dataset.tool === "select" ? tool : target.dataset.tool;
            regions.setTool(target.dataset.tool);
        }
    });
    find("shapes").addEventListener("keydown", ({ key }) => key === "Escape" && regions.setTool("select"));
    find("add").addEventListener("click", () => { regions.setTool("select"); regions.add(tool); });
    find("faces").addEventListener("click", findFaces);
    find("finish").addEventListener("click", () => regions.closePath());
    find("delete").addEventListener("click", () => regions.remove(regions.selected));
    find("clear").addEventListener("click", () => regions.clear());
}

// --- the rest ---

async function copy() {
    await navigator.clipboard?.writeText(find("curl").textContent).catch(() => {});
    getSelection().selectAllChildren(find("curl")); // where there is no clipboard, Ctrl+C takes this
    find("copy").textContent = navigator.clipboard ? "Copied" : "Selected";
    setTimeout(() => (find("copy").textContent = "Copy"), 1500);
}

function makeRest() {
    find("split").addEventListener("input", showSplit);
    find("theme").addEventListener("click", nextTheme);
    find("copy").addEventListener("click", copy);
    find("compare").addEventListener("click", compare);
    find("reset").addEventListener("click", reset);
    find("controls").addEventListener("submit", (event) => event.preventDefault());
    find("token").addEventListener("input", () => { token = find("token").value.trim(); changed(); });
    new ResizeObserver(() => picture && fitFrame(picture.width, picture.height)).observe(find("stage"));
}

makeTools();
makeControls();
makeSources();
makeRest();
chooseFilter(filter.name);
showServer().catch(() => {});
makeSample(samples[0]).then((file) => taken || take(file, false));
