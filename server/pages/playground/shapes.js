// SPDX-License-Identifier: MIT
// Shapes over the picture: their texts, their corners, their elements. Numbers are pixels of the upright picture, as the
// daemon takes them.

const namespace = "http://www.w3.org/2000/svg";

export function svg(tag, attributes = {}) {
    const made = document.createElementNS(namespace, tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
}

export function points(list) {
    return list.map((point) => point.join(",")).join(" ");
}

export const bounded = (value, least, most) => Math.min(Math.max(value, least), most);

export function regionText(region) {
    if (region.kind === "polygon") {
        return `polygon:${region.points.flat().join(",")}`;
    }
    return `${region.kind === "ellipse" ? "ellipse:" : ""}${region.x},${region.y},${region.w},${region.h}`;
}

// The region of a text that regionText wrote, or null for any other.
export function regionOf(text) {
    const [, kind, list] = /^(?:(ellipse|polygon):)?([\d.,]+)$/.exec(text) ?? [];
    const numbers = (list ?? "").split(",").map(Number);
    if (kind === "polygon" && numbers.length >= 6 && numbers.length % 2 === 0) {
        return { kind, points: numbers.flatMap((x, i) => (i % 2 === 0 ? [[x, numbers[i + 1]]] : [])) };
    }
    const [x, y, w, h] = numbers;
    return kind !== "polygon" && numbers.length === 4 ? { kind: kind ?? "rectangle", x, y, w, h } : null;
}

// The same for the part `regions` of a form, which takes more of them.
export function regionEntry({ kind, x, y, w, h, points: list }) {
    return kind === "polygon" ? { polygon: list } : { [kind === "ellipse" ? kind : "box"]: [x, y, w, h] };
}

// Where a shape can be taken: the corners of a box, clockwise from the top left; the points of a polygon.
export function gripsOf({ kind, x, y, w, h, points: list }) {
    return kind === "polygon" ? list : [[x, y], [x + w, y], [x + w, y + h], [x, y + h]];
}

export function boxOf(region) {
    if (region.kind !== "polygon") {
        return [region.x, region.y, region.x + region.w, region.y + region.h];
    }
    const xs = region.points.map(([x]) => x);
    const ys = region.points.map(([, y]) => y);
    return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

export function spanBox(region, [ax, ay], [bx, by]) {
    Object.assign(region, { x: Math.min(ax, bx), y: Math.min(ay, by), w: Math.max(1, Math.abs(ax - bx)), h: Math.max(1, Math.abs(ay - by)) });
}
