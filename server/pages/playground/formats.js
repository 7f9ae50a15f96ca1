// SPDX-License-Identifier: MIT
// The formats: what their files are called and begin with, and the same answer in all of them side by side.
import { element } from "./controls.js";
import { formats, written } from "./parameters.js";
import { pageOf, send, settle, timings } from "./request.js";
import { bytes, find, milliseconds, offer } from "./view.js";

const endings = Object.fromEntries(formats.map(({ name }) => [`image/${name}`, name === "jpeg" ? "jpg" : name]));
export const titles = Object.fromEntries(formats.map(({ name, title }) => [`image/${name}`, title]));
export const opened = [...formats.flatMap(({ name }) => [`image/${name}`, `.${name}`]), ".jpg", ".heif", ".tif"].join();

// "photo.jpg", blurred to PNG -> "photo-blur.png"; null for what is no picture.
export function outputName(fileName, operation, type) {
    const ending = endings[type];
    return ending ? `${fileName.replace(/\.\w+$/, "")}-${operation}.${ending}` : null;
}

export function pastedName(type) {
    return `pasted.${endings[type] ?? "png"}`;
}

// The daemon goes by the first bytes. Formats whose first bytes are not known here are told by the file's name. `animated` is "frames" where the daemon keeps them,
// "first" where it takes one frame or page alone, and else "".
export async function lookAt(file) {
    const letters = new TextDecoder("latin1").decode(await file.slice(0, 65536).arrayBuffer());
    const brands = letters.slice(4, 8) === "ftyp" ? letters.slice(8, 64) : "";
    if (letters.slice(8, 12) === "WEBP") {
        return { type: "image/webp", animated: letters.slice(12, 16) === "VP8X" && (letters.charCodeAt(20) & 2) !== 0 ? "frames" : "" };
    }
    if (letters.startsWith("GIF8")) {
        return { type: "image/gif", animated: "frames" };
    }
    if (/^(II[*+]\0|MM\0[*+])/.test(letters)) {
        return { type: "image/tiff", animated: "first" };
    }
    const named = formats.find(({ name }) => !letters.startsWith("\u00ff\u00d8") && file.name.toLowerCase().endsWith(`.${name}`))?.name ?? "jpeg";
    const jxl = letters.startsWith("\u00ff\n") || letters.slice(4, 8) === "JXL ";
    const type = jxl ? "jxl" : /avi[fs]/.test(brands) ? "avif" : brands ? "heic" : letters.startsWith("\u0089P") ? "png" : named;
    return { type: `image/${type}`, animated: brands.startsWith("avis") || (type === "png" && letters.includes("acTL")) ? "frames" : "" };
}

// --- the comparison ---

const compared = [...written.filter((name) => name !== "png"), "png"];
let round = 0; // of requests; those of an older one are dropped
let urls = [];

function makeCard(format) {
    const picture = element("img", { hidden: true, alt: `The middle of the picture as ${titles[`image/${format}`]}` });
    const size = element("strong");
    const facts = element("span", { class: "help" });
    const bar = element("div", { class: "fill" });
    const use = element("button", { type: "button", class: "small" }, "Use");
    const save = element("a", { class: "button small" }, "Download");
    use.setAttribute("aria-label", `Use ${titles[`image/${format}`]}`);
    save.setAttribute("aria-label", `Download the ${titles[`image/${format}`]}`);
    save.hidden = true;
    const shot = element("div", { class: "shot" }, picture);
    const node = element("li", { class: "card" }, shot, element("h3", {}, titles[`image/${format}`], " ", size), element("div", { class: "track", "aria-hidden": "true" }, bar), facts,
        element("div", { class: "bar" }, use, save));
    node.dataset.format = format;
    node.setAttribute("aria-busy", "true"); // its picture is on the way
    return { format, node, picture, size, facts, bar, use, save };
}

async function fillCard(one, asked, quality, turn) {
    const { request, picture, token, name } = asked;
    const pairs = request.pairs.filter(([key]) => !["format", "quality", "lossless", "subsampling", "progressive", "huffman", "page"].includes(key));
    pairs.push(...pageOf(picture.animated, one.format, pairs), ["format", one.format], ...(one.format === "png" ? [] : [["quality", quality]]));
    const { answer, blob } = await send({ path: request.path, pairs }, picture, token);
    if (turn !== round || !answer.ok) {
        one.facts.textContent = turn === round ? "This server does not write it." : "";
        one.node.removeAttribute("aria-busy");
        return null;
    }
    const url = URL.createObjectURL(blob);
    urls.push(url);
    one.picture.src = url;
    await settle(one.picture, blob, token);
    one.picture.hidden = false;
    one.node.removeAttribute("aria-busy");
    one.size.textContent = bytes(blob.size);
    const total = timings(answer.headers.get("Server-Timing")).find(([stage]) => stage === "total")?.[1] ?? 0;
    one.facts.textContent = `${Math.round((blob.size / picture.file.size) * 100)} % of the picture, ${milliseconds(total)}`;
    offer(one.save, url, outputName(picture.file.name, name, blob.type));
    return blob.size;
}

// One after the other, so that the times are those of one request.
async function askAll(cards, asked) {
    const turn = ++round;
    const quality = find("compare-quality").value;
    find("compare-value").textContent = quality;
    urls.splice(0).forEach((url) => URL.revokeObjectURL(url));
    find("compare-cards").setAttribute("aria-busy", "true");
    const sizes = [];
    for (const one of cards) {
        sizes.push(turn === round ? await fillCard(one, asked, quality, turn).catch(() => null) : null);
    }
    if (turn === round) {
        const most = Math.max(...sizes);
        cards.forEach((one, i) => (one.bar.style.width = `${((sizes[i] ?? 0) / most) * 100}%`));
        find("compare-cards").removeAttribute("aria-busy");
    }
}

// `asked`: { request, picture, token, name }; `use` is called with the format and quality that were chosen.
export function compareFormats(asked, use) {
    const cards = compared.map(makeCard);
    const quality = find("compare-quality");
    let timer = 0;
    cards.forEach((one) => one.use.addEventListener("click", () => {
        find("formats").close();
        use(one.format, one.format === "png" ? null : quality.value);
    }));
    quality.oninput = () => {
        find("compare-value").textContent = quality.value;
        clearTimeout(timer);
        timer = setTimeout(askAll, 200, cards, asked);
    };
    find("compare-cards").replaceChildren(...cards.map((one) => one.node));
    find("formats").showModal();
    askAll(cards, asked);
}
