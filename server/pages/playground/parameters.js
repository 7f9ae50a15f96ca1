// SPDX-License-Identifier: MIT
// What is chosen: the filter, its parameters, and the text in which a state stands in the address.
import { element, makeChoice, makeFields, pairsOf } from "./controls.js";
import { encode } from "./request.js";
import { regionEntry, regionOf, regionText } from "./shapes.js";
import { Steps } from "./steps.js";
import { find } from "./view.js";

const table = JSON.parse(find("table").textContent);
export const formats = table.formats; // [{ name, title, written }]
export const written = formats.filter((one) => one.written).map((one) => one.name);
export const chosen = { filter: table.filters[0], look: "pixelate" }; // look: of a redaction
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
        const looks = element("fieldset", { class: "looks" }, element("legend", {}, "Look"));
        makeChoice(looks, "look", one.looks.map((name) => [name, byName(name).title]), chooseLook);
        node.append(looks);
        panel.looks = Object.fromEntries(one.looks.map((name) => [name, makePanel(byName(name))]));
        node.append(...Object.values(panel.looks).map((inner) => inner.node));
        panel.fields = makeFields(table.redact.filter((row) => row.name !== "mode"), one.name, node, notify);
    } else if (one.steps) {
        steps = new Steps(node, one.steps.map(byName), one.most, notify);
    } else {
        made += 1;
        panel.fields = makeFields(one.own ?? [], `${one.name}${made}`, node, notify);
    }
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
    makeChoice(find("filters"), "filter", table.filters.map((one) => [one.name, one.title]), chooseFilter);
    chooseLook(chosen.look);
    chooseFilter(chosen.filter.name);
}

function chooseLook(name) {
    chosen.look = name;
    Object.entries(panels.redact.looks).forEach(([one, panel]) => (panel.node.hidden = one !== name));
    notify();
}

// Narrow screens have the filters in a row, which scrolls; the page does not.
function showChosen() {
    const [row, label] = [find("filters"), document.querySelector("label:has([name=filter]:checked)")].map((node) => node.getBoundingClientRect());
    find("filters").scrollLeft += label.left + label.width / 2 - row.left - row.width / 2;
}

function chooseFilter(name) {
    chosen.filter = byName(name);
    table.filters.forEach((one) => (panels[one.name].node.hidden = one !== chosen.filter));
    find("about").textContent = chosen.filter.about;
    find("output-group").hidden = Boolean(chosen.filter.json);
    shared.region.find((field) => field.name === "feather").node.hidden = Boolean(chosen.filter.json);
    showChosen();
    notify();
}

function redactFields() {
    return [...panels.redact.looks[chosen.look].fields, ...panels.redact.fields];
}

function ownPairs() {
    if (chosen.filter.looks) {
        return [...pairsOf(redactFields()), ["mode", "redact"]];
    }
    return chosen.filter.steps ? [["ops", steps.text()]] : pairsOf(panels[chosen.filter.name].fields);
}

// invert and feather mean nothing without a region, and are refused. So are regions of a filter that moves pixels.
function regionPairs(list) {
    if (chosen.filter.whole || list.length === 0) {
        return [];
    }
    const options = pairsOf(shared.region).filter(([name]) => !chosen.filter.json || name !== "feather");
    options.push(...(chosen.filter.name === "placeholder" ? [["mode", "redact"]] : []));
    const many = list.length > 64; // the most that the parameter takes
    return [...(many ? [["regions", JSON.stringify(list.map(regionEntry))]] : list.map((region) => ["region", regionText(region)])), ...options];
}

export function describe(list, animated) {
    const output = chosen.filter.json ? [] : pairsOf(shared.output);
    const page = animated ? [["page", "0"]] : [];
    return { path: `/${chosen.filter.looks ? chosen.look : chosen.filter.name}`, pairs: [...ownPairs(), ...regionPairs(list), ...output, ...pairsOf(shared.input), ...page] };
}

// --- the state ---

// Filter and parameters as a text: "blur?sigma=8&region=1,2,30,40". What a filter does not take is kept for the next one.
export function stateText(list, sample) {
    const { filter, look } = chosen;
    const pairs = [...(filter.looks ? [["look", look]] : []), ...ownPairs().filter(([name]) => name !== "mode"), ...list.map((region) => ["region", regionText(region)]),
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
    const look = pairs.get("look");
    if (filter.looks?.includes(look)) {
        check("look", look);
        chooseLook(look);
    }
    check("filter", filter.name);
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
    const group = field?.node.closest("details");
    if (group) {
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

