// SPDX-License-Identifier: MIT
// The search of the daemon's detectors: boxes with the margin that hiding needs, to be corrected by hand.
import { send } from "./request.js";

export function foundSentence(found) {
    const counts = Object.entries(found).map(([name, boxes]) => `${name} ${boxes.length}`);
    return `Found: ${counts.join(", ")}. Look yourself, too: some are missed.`;
}

// What each search needs so that its boxes hide: a margin around faces, blocks that do not tell words by their length.
const hiding = { text: ["detect_grid", "16"] };
const usual = ["detect_margin", "20"];

async function search(picture, name, token) {
    const pairs = [["detect", name], hiding[name] ?? usual, ...(picture.animated ? [["page", "0"]] : [])];
    const { answer, blob } = await send({ path: "/detect", pairs }, picture, token);
    return answer.ok ? { found: { [name]: JSON.parse(await blob.text())[name] } } : { answer, blob };
}

// `names` is a value of `detect`. Ends with the boxes by name, or with the first refusal.
export async function searchFaces(picture, names, token) {
    const found = {};
    for (const name of names.split(",")) {
        const done = await search(picture, name, token);
        if (!done.found) {
            return done;
        }
        Object.assign(found, done.found);
    }
    return { found };
}
