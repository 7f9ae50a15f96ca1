// SPDX-License-Identifier: MIT
// The search of the daemon's detectors: boxes with the margin that hiding needs, to be corrected by hand.
import { send } from "./request.js";

export function foundSentence(found) {
    const counts = Object.entries(found).map(([name, boxes]) => `${name} ${boxes.length}`);
    return `Found: ${counts.join(", ")}. Look yourself, too: some are missed.`;
}

// `names` is a value of `detect`. Ends with the boxes by name, or with the refusal.
export async function searchFaces(picture, names, token) {
    const pairs = [["detect", names], ["detect_margin", "20"], ...(picture.animated ? [["page", "0"]] : [])];
    const { answer, blob } = await send({ path: "/detect", pairs }, picture, token);
    if (!answer.ok) {
        return { answer, blob };
    }
    const { width, height, ...found } = JSON.parse(await blob.text());
    return { found };
}
