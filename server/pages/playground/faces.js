// SPDX-License-Identifier: MIT
// The search for faces: boxes with the margin that hiding needs, to be corrected by hand.
import { send } from "./request.js";

export function foundSentence(count) {
    const found = count === 0 ? "No face was found." : count === 1 ? "1 face found." : `${count} faces found.`;
    return `${found} Look yourself, too: some faces are missed.`;
}

// Ends with the faces, or with the refusal.
export async function searchFaces(picture, token) {
    const pairs = [["detect_margin", "20"], ...(picture.animated ? [["page", "0"]] : [])];
    const { answer, blob } = await send({ path: "/detect", pairs }, picture, token);
    return answer.ok ? { faces: JSON.parse(await blob.text()).faces } : { answer, blob };
}
