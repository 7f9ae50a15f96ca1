// SPDX-License-Identifier: MIT
// The search of the daemon's detectors: boxes with the margin that hiding needs, to be corrected by hand.
import { send } from "./request.js";

// What each search needs so that its boxes hide: the margins that `detect` has, and blocks that do not tell words by their length.
const margins = { faces: ["detect_margin", "20"], plates: ["detect_margin", "20"], codes: ["detect_margin", "10"], persons: ["detect_margin", "10"], text: ["detect_grid", "16"] };

// The boxes of one detector as { found }, or its refusal as { answer, blob }.
export async function searchFor(picture, name, token) {
    const pairs = [["detect", name], margins[name] ?? margins.faces, ...(picture.animated ? [["page", "0"]] : [])];
    const { answer, blob } = await send({ path: "/detect", pairs }, picture, token);
    return answer.ok ? { found: JSON.parse(await blob.text())[name] } : { answer, blob };
}
