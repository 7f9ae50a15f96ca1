// SPDX-License-Identifier: MIT
// What is chosen: the filter, its parameters, and the text in which a state stands in the address.
import { element, makeChoice, makeFields, pairsOf } from "./controls.js";
import { encode, pageOf } from "./request.js";
import { regionEntry, regionOf, regionText } from "./shapes.js";
import { Steps } from "./steps.js";
import { find } from "./view.js";

const table = JSON.parse(find("table").textContent);
export const formats = table.formats; // [{ name, title, written }]
export const written = formats.filter((one) => one.written).map((one) => one.name);
const looks = table.filters.find((one) => one.looks).looks;
export const chosen = { filter: table.filters[0], look: looks[0].name }; // look: of what is hidden
const latest = Object.fromEntries(table.groups.map((group) => [group.name, group.filters[0]])); // the filter that was last chosen of each group
let notify; // called after each change

const byName = (name) => table.filters.find((one) => one.name === name);
const panels = {};
const shared = {};
let steps;
let made = 0; // panels, for the names of their fields

function makePanel(one) {
    const node = element("div", { class: "panel", hidden: true });
    const panel = { node, fields: [] };
    if (one.looks) {
        const choices = element("fieldset", { class: "looks" }, element("legend", {}, "Look"));
        makeChoice(choices, "look", one.looks.map((look) => [look.name, look.title]), chooseLook);
        node.append(choices);
        panel.looks = Object.fromEntries(one.looks.map((look) => [look.name, makeLook(look)]));
        node.append(...Object.values(panel.looks).map((inner) => inner.node));
    } else if (one.steps) {
        steps = new Steps(node, one.steps.map(byName), one.most, notify);
    } else {
        made += 1;
        panel.fields = makeFields(one.own ?? [], `${one.name}${made}`, node, notify);
    }
    return panel;
}

// A look that is no filter has its colour alone.
function makeLook({ name, path }) {
    const panel = path ? { node: element("div", { class: "panel" }), fields: [] } : makePanel(byName(name));
    panel.fields.push(...makeFields(path ? table[name] : table.redact.filter((row) => row.name !== "mode"), `look-${name}`, panel.node, notify));
    return panel;
}

export function makeControls(whenChanged) {
    notify = whenChanged;
    table.output.find((row) => row.name === "format").choices.push(...written);
    table.filters.forEach((one) => {
        panels[one.name] = makePanel(one);
        find("own").append(panels[one.name].node);
    });
    for (const group of ["region", "output", "input"]) {
        shared[group] = makeFields(table[group], group, find(`${group}-fields`), notify);
    }
    makeChoice(find("groups"), "group", table.groups.map((one) => [one.name, one.title]), (name) => chooseFilter(latest[name]));
    makeChoice(find("filters"), "filter", table.filters.map((one) => [one.name, one.title]), chooseFilter);
    chooseLook(chosen.look);
    chooseFilter(chosen.filter.name);
}

function chooseLook(name) {
    chosen.look = name;
    Object.entries(panels.redact.looks).forEach(([one, panel]) => (panel.node.hidden = one !== name));
    showSoft();
    notify();
}

const lookOf = () => looks.find((one) => one.name === chosen.look);

// Solid boxes and JSON have no soft edges.
function showSoft() {
    shared.region.find((field) => field.name === "feather").node.hidden = Boolean(chosen.filter.json || (chosen.filter.looks && lookOf().path));
}

// Narrow screens have the filters in a row, which scrolls; the page does not.
function showChosen() {
    const group = table.groups.find((one) => one.filters.includes(chosen.filter.name));
    latest[group.name] = chosen.filter.name;
    check("group", group.name);
    check("filter", chosen.filter.name);
    find("filters").hidden = group.filters.length < 2;
    find("filters").querySelectorAll("label").forEach((one) => (one.hidden = !group.filters.includes(one.firstChild.value)));
    const [row, label] = [find("filters"), document.querySelector("label:has([name=filter]:checked)")].map((node) => node.getBoundingClientRect());
    find("filters").scrollLeft += label.left + label.width / 2 - row.left - row.width / 2;
}

export function chooseFilter(name) {
    chosen.filter = byName(name);
    table.filters.forEach((one) => (panels[one.name].node.hidden = one !== chosen.filter));
    find("about").textContent = chosen.filter.about;
    find("output-group").hidden = Boolean(chosen.filter.json);
    showSoft();
    showChosen();
    notify();
}

function redactFields() {
    return panels.redact.looks[chosen.look].fields;
}

function ownPairs() {
    if (chosen.filter.looks) {
        return [...pairsOf(redactFields()), ...(lookOf().path ? [] : [["mode", "redact"]])];
    }
    return chosen.filter.steps ? [["ops", steps.text()]] : pairsOf(panels[chosen.filter.name].fields);
}

// invert and feather mean nothing without a region, and are refused. So are regions of a filter that moves pixels.
function regionPairs(list, names) {
    if (chosen.filter.whole || (list.length === 0 && !names)) {
        return [];
    }
    const options = pairsOf(shared.region.filter((field) => field.name !== "feather" || !field.node.hidden));
    options.push(...(chosen.filter.name === "placeholder" ? [["mode", "redact"]] : []));
    if (names) { // boxes, as the page draws them
        return [["detect", names], ...(names.includes("faces") ? [["detect_shape", "box"]] : []), ...options];
    }
    const many = list.length > 64; // the most that the parameter takes
    return [...(many ? [["regions", JSON.stringify(list.map(regionEntry))]] : list.map((region) => ["region", regionText(region)])), ...options];
}

// The request. With `names`, a value of `detect`, what is hidden is what is found in whatever picture is sent, not the regions.
export function describe(list, animated, names) {
    const output = chosen.filter.json ? [] : pairsOf(shared.output);
    const path = chosen.filter.looks ? lookOf().path ?? chosen.look : chosen.filter.name;
    const pairs = [...ownPairs(), ...regionPairs(list, names), ...output, ...pairsOf(shared.input)];
    return { path: `/${path}`, pairs: [...pairs, ...pageOf(animated, outputFormat(), pairs, Boolean(chosen.filter.json))] };
}

// --- the state ---

// Filter and parameters as a text: "blur?sigma=8&region=1,2,30,40". What a filter does not take is kept for the next one.
export function stateText(list, sample) {
    const { filter, look } = chosen;
    const pairs = [...(filter.looks && look !== looks[0].name ? [["look", look]] : []), ...ownPairs().filter(([name]) => name !== "mode"), ...list.map((region) => ["region", regionText(region)]),
        ...["region", "output", "input"].flatMap((group) => pairsOf(shared[group])), ...(sample ? [["sample", sample]] : [])];
    return `${filter.name}${pairs.length === 0 ? "" : "?"}${pairs.map(([name, value]) => `${name}=${encode(value)}`).join("&")}`;
}

// { filter, pairs, sample, regions } of such a text, or null where it names no filter.
export function parseState(text) {
    const [name, query] = text.split(/\?(.*)/s);
    const pairs = new URLSearchParams((query ?? "").replaceAll("+", "%2B"));
    const filter = byName(name);
    return filter ? { filter, pairs, sample: pairs.get("sample"), regions: pairs.getAll("region").map(regionOf).filter(Boolean) } : null;
}

// Puts filter and parameters back; those that the text does not name get the daemon's defaults.
export function applyState({ filter, pairs }) {
    if (filter.looks) {
        const look = filter.looks.find((one) => one.name === pairs.get("look")) ?? filter.looks[0];
        check("look", look.name);
        chooseLook(look.name);
    }
    chooseFilter(filter.name);
    fieldsInUse().forEach((field) => (pairs.has(field.name) ? field.set(pairs.get(field.name)) : field.plain()));
    if (filter.steps && pairs.has("ops")) {
        steps.set(pairs.get("ops"));
    }
    notify();
}

function check(name, value) {
    document.querySelector(`input[name="${name}"][value="${value}"]`).checked = true;
}

// Sets format and quality, as the comparison was left.
export function setOutput(values) {
    shared.output.filter((field) => field.name in values).forEach((field) => field.set(values[field.name]));
    find("output-group").open = true;
    notify();
}

export function outputFormat() {
    return chosen.filter.json ? "" : shared.output.find((field) => field.name === "format").get();
}

// --- what is wrong ---

function allFields() {
    const inner = Object.values(panels.redact.looks).flatMap((panel) => panel.fields);
    return [...Object.values(panels).flatMap((panel) => panel.fields), ...inner, ...Object.values(shared).flat()];
}

function fieldsInUse() {
    const own = chosen.filter.looks ? redactFields() : panels[chosen.filter.name].fields;
    return [...own, ...Object.values(shared).flat()];
}

// Shows at the field what the daemon says about the parameter of that name.
export function mark(name, sentence) {
    allFields().forEach((field) => field.mark(null));
    const field = name && fieldsInUse().find((one) => one.name === name);
    field?.mark(sentence);
    for (let group = field?.node.closest("details"); group; group = group.parentElement.closest("details")) {
        group.open = true;
    }
    steps.mark(name === "ops" ? sentence : null);
    find("region-group").classList.toggle("group-wrong", name === "region");
}

export function reset() {
    allFields().forEach((field) => field.reset());
    steps.reset();
    notify();
}

