// SPDX-License-Identifier: MIT
// Requests as fetch sends them, answers as the daemon gives them.

const targetMax = 8000; // bytes of path and query; the daemon takes 8 KiB
const plain = new Set([..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~,:;|="]);

// Of a query only what must be is encoded, so that people can read it. Brackets and braces mean something to curl.
export function encode(value) {
    return [...value].map((sign) => (plain.has(sign) ? sign : encodeURIComponent(sign).replace(/['()*!]/g, hex))).join("");
}

function hex(sign) {
    return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`;
}

// { path, pairs } becomes the target; parameters that are too long for one go into a form.
export function targetOf({ path, pairs }) {
    const query = pairs.map(([name, value]) => `${name}=${encode(value)}`).join("&");
    const target = query ? `${path}?${query}` : path;
    return target.length <= targetMax && !pairs.some(([name]) => name === "regions") ? { target, form: false } : { target: path, form: true };
}

// An animation is sent as it is where the answer can hold its frames, else with its first alone: searches and numbers are about one picture.
export function pageOf(animated, format, pairs, single = false) {
    const holds = ["", "webp", "png", "gif", "avif"].includes(format ?? "");
    const searches = pairs.some(([name, value]) => name === "detect" || (["gravity", "ops"].includes(name) && /(faces|persons)/.test(value)));
    const one = single || !holds || searches;
    return animated === "first" || (animated === "frames" && one) ? [["page", "0"]] : [];
}

export async function send(request, picture, token, signal) {
    const { target, form } = targetOf(request);
    const headers = token ? { Authorization: `Bearer ${token}` } : {};
    let body = picture.file;
    if (form) {
        body = new FormData();
        request.pairs.forEach(([name, value]) => body.append(name, value));
        body.append("image", picture.file, picture.file.name);
    }
    const begin = performance.now();
    const answer = await fetch(target, { method: "POST", body, headers, signal, cache: "no-store" });
    const blob = await answer.blob();
    return { answer, blob, milliseconds: performance.now() - begin };
}

// What the browser cannot show is shown as the daemon reads it.
export async function preview(file, looked, token) {
    const pairs = [["angle", "0"], ["format", "jpeg"], ...(looked.animated ? [["page", "0"]] : [])];
    const { answer, blob } = await send({ path: "/rotate", pairs }, { file }, token).catch(() => ({}));
    return answer?.ok ? { url: URL.createObjectURL(blob) } : { answer, blob };
}

// An answer in `image`, whose source it is already.
export async function settle(image, blob, token) {
    const shown = await image.decode().then(() => true, () => false);
    const { url } = shown ? {} : await preview(blob, {}, token);
    if (url) {
        image.src = url;
        await image.decode().catch(() => {});
        URL.revokeObjectURL(url);
    }
}

// Whether the answer hides something: that it redacts is the request's, and what was found is said by the daemon.
export function hasHidden({ path, pairs }, answer) {
    const names = new Map(pairs);
    const redacts = path === "/redact" || names.get("mode") === "redact";
    const found = Number(answer.headers.get("X-Regions"));
    return answer.ok && redacts && (names.has("detect") ? found > 0 : names.has("region") || names.has("regions"));
}

export async function same(a, b) {
    const [x, y] = await Promise.all([a, b].map(async (blob) => new Uint8Array(await blob.arrayBuffer())));
    return x.length === y.length && x.every((byte, i) => byte === y[i]);
}

// --- reading answers ---

// Server-Timing: "queue;dur=0.1, decode;dur=2" -> [["queue", 0.1], ["decode", 2]]
export function timings(header) {
    return [...(header ?? "").matchAll(/([\w-]+);dur=([\d.]+)/g)].map(([, name, value]) => [name, Number(value)]);
}
