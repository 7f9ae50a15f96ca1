// SPDX-License-Identifier: MIT
// What is marked, as chips beside the picture: a chip points out its box, and a click keeps what is in it.
import { element } from "./controls.js";
import { regionText } from "./shapes.js";
import { find } from "./view.js";

const singular = { faces: "Face", text: "Text", codes: "Code", plates: "Plate", persons: "Person" };
const kinds = { rectangle: "Box", ellipse: "Ellipse", polygon: "Polygon" };

const titleOf = (region) => (region.found ? singular[region.found] ?? region.found : kinds[region.kind]);

// "Face 1, 93 %": numbers count the like of it.
function labelOf(region, list) {
    const title = titleOf(region);
    const number = list.filter((one) => titleOf(one) === title).indexOf(region) + 1;
    const score = region.score === undefined ? "" : `, ${Math.round(region.score * 100)} %`;
    return `${title} ${number}${score}`;
}

function makeChip(regions, region) {
    const chip = element("button", { type: "button", class: "chip" });
    const point = (on) => region.node.classList.toggle("pointed", on);
    chip.addEventListener("click", () => { regions.keep(region); point(chip.matches(":hover, :focus-visible")); });
    ["pointerenter", "focus"].forEach((name) => chip.addEventListener(name, () => point(true)));
    ["pointerleave", "blur"].forEach((name) => chip.addEventListener(name, () => point(false)));
    const node = element("li", {}, chip);
    if (!region.found) {
        const away = element("button", { type: "button", class: "away" }, "×");
        away.addEventListener("click", () => regions.remove(region));
        node.append(away);
    }
    return node;
}

// The chips stay the same elements, so that focus and pointer stay on them.
export function listRegions(regions, container) {
    const nodes = regions.list.map((region) => {
        region.item ??= makeChip(regions, region);
        const [chip, away] = region.item.children;
        const label = labelOf(region, regions.list);
        chip.textContent = region.kept ? `${label}: kept` : label;
        chip.title = region.kept ? "Click to hide it" : "Click to keep it";
        chip.dataset.shape = regionText(region);
        chip.setAttribute("aria-pressed", String(!region.kept));
        away?.setAttribute("aria-label", `Delete ${label}`);
        return region.item;
    });
    if (nodes.length !== container.children.length || nodes.some((node, index) => node !== container.children[index])) {
        container.replaceChildren(...nodes);
    }
}

const inWords = (names) => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

// What the panel says of the picture: what to do first, then how much is marked.
export function markedSentence(regions, searched, available) {
    const [all, active] = [regions.list.length, regions.active.length];
    const missing = [...searched].filter((name) => !regions.list.some((region) => region.found === name));
    const none = missing.length > 0 ? `No ${inWords(missing.map((name) => (singular[name] ?? name).toLowerCase()))} was found. ` : "";
    if (all === 0) {
        return `${none}Draw a box over what must go${available.length > 0 && !none ? `, or find ${inWords(available)}` : ""}.`;
    }
    const kept = all > active ? `, ${all - active} kept` : "";
    return `${none}${active} ${active === 1 ? "place" : "places"} hidden${kept}. Look yourself, too: some are missed.`;
}

// A button for each search that the daemon can do.
export function makeFinds(names, search) {
    return names.map((name) => {
        const button = element("button", { type: "button", "data-find": name }, `Find ${name}`);
        button.addEventListener("click", () => search(name, button));
        return button;
    });
}

export const hints = {
    select: "",
    rectangle: "Drag over the picture, as often as you like. Escape ends it.",
    ellipse: "Drag over the picture, as often as you like. Escape ends it.",
    polygon: "Tap the points; close it at the first one, by a double click or Enter. Escape gives up.",
};

// That a filter leaves recognisable what is marked is said where its answer is downloaded.
export function showUnhidden(filter, active) {
    const found = active.some((region) => region.found);
    find("unhidden").hidden = Boolean(filter.looks || filter.json) || active.length === 0 || !(filter.unhidden || found);
    find("unhidden-text").textContent = filter.unhidden ?? "Not hidden.";
}
