// SPDX-License-Identifier: MIT
// Regions over the picture: drawn, moved, resized and deleted by mouse, touch and keyboard. Numbers are pixels of the
// upright picture, as the daemon takes them.
import { bounded, boxOf, gripsOf, points, regionText, spanBox, svg } from "./shapes.js";

export class Regions {
    // `changed` is called when the regions are others, `told` with whatever else is to be seen: the tool, the selection.
    constructor(overlay, changed, told) {
        Object.assign(this, { overlay, changed, told, list: [], selected: null, tool: "select", drag: null, path: null });
        overlay.addEventListener("pointerdown", (event) => this.press(event));
        overlay.addEventListener("pointermove", (event) => this.pull(event));
        overlay.addEventListener("pointerup", () => this.release());
        overlay.addEventListener("pointercancel", () => this.release());
        overlay.addEventListener("keydown", (event) => this.key(event));
        overlay.addEventListener("dblclick", () => this.closePath());
        new ResizeObserver(() => this.placeAll()).observe(overlay);
        this.setPicture(1, 1);
    }

    setPicture(width, height) {
        Object.assign(this, { width, height, list: [], selected: null, path: null });
        this.overlay.setAttribute("viewBox", `0 0 ${width} ${height}`);
        this.overlay.setAttribute("preserveAspectRatio", "none");
        this.rebuild();
    }

    setTool(tool) {
        this.tool = tool;
        this.path = null;
        this.overlay.classList.toggle("drawing", tool !== "select");
        this.rebuild();
    }

    // Pixels of the picture in one of the screen.
    unit() {
        return this.width / (this.overlay.clientWidth || this.width);
    }

    at(event) {
        const box = this.overlay.getBoundingClientRect();
        const x = ((event.clientX - box.left) / box.width) * this.width;
        const y = ((event.clientY - box.top) / box.height) * this.height;
        return [bounded(Math.round(x), 0, this.width), bounded(Math.round(y), 0, this.height)];
    }

    // --- what there is ---

    // Those that the filter acts on; what was found and is kept is not among them.
    get active() {
        return this.list.filter((region) => !region.kept);
    }

    insert(region) {
        this.list.push(region);
        this.rebuild();
        this.select(region);
    }

    // One in the middle, for those who do not draw: moved and resized by keys or by hand afterwards.
    add(kind) {
        const shift = (this.list.length % 5) * 0.06;
        const [w, h] = [Math.max(1, Math.round(this.width * 0.3)), Math.max(1, Math.round(this.height * 0.3))];
        const [x, y] = [Math.round(this.width * (0.3 + shift)), Math.round(this.height * (0.3 + shift))];
        const corners = [[x + Math.round(w / 2), y], [x + w, y + h], [x, y + h]];
        this.insert(kind === "polygon" ? { kind, points: corners } : { kind, x, y, w, h });
        this.changed();
        this.selected.node.querySelector(".shape").focus();
    }

    // Those of a state; what lies outside of the picture is left out.
    setAll(list) {
        const inside = (region) => { const [left, top, right, bottom] = boxOf(region); return left >= 0 && top >= 0 && right <= this.width && bottom <= this.height; };
        Object.assign(this, { list: list.filter(inside), selected: null, path: null });
        this.rebuild();
    }

    // What a search found, as rectangles within the picture, in place of what it found before.
    addBoxes(boxes, found) {
        this.list = this.list.filter((region) => region.found !== found);
        for (const { x, y, width, height, score } of boxes) {
            const [left, top] = [bounded(Math.floor(x), 0, this.width - 1), bounded(Math.floor(y), 0, this.height - 1)];
            const [right, bottom] = [bounded(Math.ceil(x + width), left + 1, this.width), bounded(Math.ceil(y + height), top + 1, this.height)];
            this.list.push({ kind: "rectangle", x: left, y: top, w: right - left, h: bottom - top, found, score });
        }
        this.selected = null;
        this.rebuild();
        this.changed();
    }

    // Hides what was kept, or keeps it.
    keep(region) {
        region.kept = !region.kept;
        this.selected = null;
        this.rebuild();
        this.changed();
    }

    remove(region) {
        const at = this.list.indexOf(region);
        this.list = this.list.filter((one) => one !== region);
        this.selected = null;
        this.rebuild();
        this.changed();
        this.list[Math.min(at, this.list.length - 1)]?.node.querySelector(".shape").focus();
    }

    clear() {
        Object.assign(this, { list: [], selected: null, path: null });
        this.rebuild();
        this.changed();
    }

    select(region) {
        if (this.selected !== region) {
            this.selected = region;
            this.list.forEach((one) => this.showGrips(one));
        }
        this.told();
    }

    // --- how it looks ---

    rebuild() {
        this.overlay.replaceChildren(...this.list.map((region, index) => this.build(region, index)));
        this.pending = svg("polyline", { class: "pending" });
        this.overlay.append(this.pending);
        this.list.forEach((region) => this.showGrips(region));
        this.told();
    }

    build(region, index) {
        const tag = { rectangle: "rect", ellipse: "ellipse", polygon: "polygon" }[region.kind];
        region.node = svg("g", { "data-region": index, class: region.kept ? "kept" : "" });
        region.parts = [svg(tag, { class: "outline", "aria-hidden": "true" }), svg(tag, { class: "shape", tabindex: 0, role: "button", "aria-roledescription": "region" })];
        region.parts[1].addEventListener("focus", () => this.select(region));
        region.node.append(...region.parts);
        return region.node;
    }

    showGrips(region) {
        const here = region === this.selected;
        region.node.classList.toggle("selected", here);
        region.node.querySelectorAll(".handle").forEach((grip) => grip.remove());
        if (here) {
            gripsOf(region).forEach((_, index) => region.node.append(this.buildGrip(index)));
        }
        this.place(region);
    }

    buildGrip(index) {
        const grip = svg("g", { class: "handle", "data-grip": index, tabindex: 0, role: "button" });
        grip.append(svg("circle", { class: "reach" }), svg("circle", { class: "knob" }));
        return grip;
    }

    place(region) {
        const { kind, x, y, w, h } = region;
        const shapes = {
            rectangle: () => ({ x, y, width: w, height: h }),
            ellipse: () => ({ cx: x + w / 2, cy: y + h / 2, rx: w / 2, ry: h / 2 }),
            polygon: () => ({ points: points(region.points) }),
        };
        const attributes = Object.entries(shapes[kind]());
        region.parts.forEach((part) => attributes.forEach(([name, value]) => part.setAttribute(name, value)));
        const number = this.list.indexOf(region) + 1;
        region.parts[1].setAttribute("aria-label", `Region ${number}, ${regionText(region)}. Arrow keys move it, Delete removes it.`);
        const grips = gripsOf(region);
        region.node.querySelectorAll(".handle").forEach((grip, index) => this.placeGrip(grip, grips[index], index));
    }

    placeGrip(grip, [x, y], index) {
        const [reach, knob] = grip.children;
        grip.setAttribute("aria-label", `Corner ${index + 1} at ${x},${y}. Arrow keys move it.`);
        reach.setAttribute("r", 18 * this.unit());
        knob.setAttribute("r", 6 * this.unit());
        for (const circle of [reach, knob]) {
            circle.setAttribute("cx", x);
            circle.setAttribute("cy", y);
        }
    }

    placeAll() {
        this.list.forEach((region) => this.place(region));
    }

    // --- mouse and touch ---

    press(event) {
        if (event.button !== 0) {
            return;
        }
        const where = this.at(event);
        const here = this.list[event.target.closest("[data-region]")?.dataset.region];
        const takes = this.tool === "select" || (here && here === this.selected); // who draws moves only what a click has selected
        if (this.tool !== "select" || here) {
            event.stopPropagation(); // else the canvas is moved
        }
        if (this.path || (this.tool === "polygon" && !takes)) {
            this.addPoint(where);
        } else if (!takes) {
            this.begin(event, where, here);
        } else {
            this.take(event, where);
        }
    }

    // A click draws nothing, and selects what lies below it.
    begin(event, where, under) {
        event.preventDefault();
        const region = { kind: this.tool, x: where[0], y: where[1], w: 1, h: 1 };
        this.insert(region);
        this.drag = { region, anchor: where, drawn: true, under, from: [event.clientX, event.clientY] };
        this.overlay.setPointerCapture(event.pointerId);
    }

    take(event, where) {
        const region = this.list[event.target.closest("[data-region]")?.dataset.region];
        if (!region) {
            this.select(null);
            return;
        }
        const grip = event.target.closest("[data-grip]")?.dataset.grip;
        this.select(region);
        this.drag = { region, last: where, grip: grip && Number(grip) };
        this.overlay.setPointerCapture(event.pointerId);
    }

    pull(event) {
        const where = this.at(event);
        if (this.path) {
            this.pending.setAttribute("points", points([...this.path, where]));
        }
        if (!this.drag) {
            return;
        }
        const { region, anchor, last, grip, drawn, from } = this.drag;
        if (drawn) {
            spanBox(region, anchor, where);
            this.drag.far ||= Math.hypot(event.clientX - from[0], event.clientY - from[1]) >= 4;
        } else if (grip !== undefined) {
            this.moveGrip(region, grip, where);
        } else {
            this.shift(region, where[0] - last[0], where[1] - last[1]);
        }
        this.drag.last = where;
        this.drag.moved = true;
        this.place(region);
        this.told();
    }

    release() {
        const { region, drawn, moved, under, far } = this.drag ?? {};
        this.drag = null;
        if (drawn && (!far || Math.max(region.w, region.h) < 4 * this.unit())) {
            this.forget(region); // a click, not a drawing
            under && this.select(under);
        } else if (drawn) { // the tool stays; no handle is in the way of the next one
            this.select(null);
            this.overlay.focus({ preventScroll: true });
            this.changed();
        } else if (moved) {
            this.changed();
        }
    }

    // One that was begun, and never was there for the request.
    forget(region) {
        this.list = this.list.filter((one) => one !== region);
        this.selected = null;
        this.rebuild();
    }

    // A second finger came: the first one draws nothing.
    giveUp() {
        if (this.drag?.drawn) {
            this.forget(this.drag.region);
        }
        Object.assign(this, { drag: null, path: null });
        this.rebuild();
    }

    // --- polygons ---

    addPoint(where) {
        this.path = this.path ?? [];
        this.overlay.focus({ preventScroll: true }); // for Enter and Escape
        const [first] = this.path;
        const near = first && Math.hypot(first[0] - where[0], first[1] - where[1]) < 12 * this.unit();
        const again = this.path.length > 0 && this.path.at(-1).every((value, i) => value === where[i]);
        if (near && this.path.length >= 3) {
            this.closePath();
        } else if (!again && this.path.length < 64) {
            this.path.push(where);
            this.pending.setAttribute("points", points(this.path));
            this.told();
        }
    }

    closePath() {
        if (!this.path || this.path.length < 3) {
            return;
        }
        const region = { kind: "polygon", points: this.path };
        this.path = null;
        this.insert(region);
        this.changed();
        region.node.querySelector(".shape").focus();
    }

    // --- changes ---

    shift(region, dx, dy) {
        const [left, top, right, bottom] = boxOf(region);
        const x = bounded(dx, -left, Math.max(this.width - right, -left));
        const y = bounded(dy, -top, Math.max(this.height - bottom, -top));
        if (region.kind === "polygon") {
            region.points = region.points.map((point) => [point[0] + x, point[1] + y]);
        } else {
            region.x += x;
            region.y += y;
        }
    }

    moveGrip(region, index, [x, y]) {
        if (region.kind === "polygon") {
            region.points[index] = [x, y];
            return;
        }
        const [left, top, right, bottom] = boxOf(region);
        const west = index === 0 || index === 3;
        const north = index < 2;
        const ends = [west ? Math.min(x, right - 1) : left, north ? Math.min(y, bottom - 1) : top, west ? right : Math.max(x, left + 1), north ? bottom : Math.max(y, top + 1)];
        spanBox(region, ends.slice(0, 2), ends.slice(2));
    }

    // --- keyboard ---

    key(event) {
        if (event.key === "Escape") {
            this.setTool("select");
            return;
        }
        if (event.key === "Enter" && this.path) {
            this.closePath();
            return;
        }
        const region = this.list[event.target.closest("[data-region]")?.dataset.region];
        const grip = event.target.closest("[data-grip]")?.dataset.grip;
        if (region && (event.key === "Delete" || event.key === "Backspace")) {
            event.preventDefault();
            this.deleteAt(region, grip);
        } else if (region) {
            this.arrow(event, region, grip);
        }
    }

    // A point of a polygon that can do without it, or the whole region.
    deleteAt(region, grip) {
        if (grip === undefined || region.kind !== "polygon" || region.points.length <= 3) {
            this.remove(region);
            return;
        }
        region.points.splice(Number(grip), 1);
        this.showGrips(region);
        region.node.querySelector(".handle").focus();
        this.changed();
    }

    arrow(event, region, grip) {
        const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [];
        if (dx === undefined) {
            return;
        }
        event.preventDefault();
        const step = event.shiftKey ? Math.max(10, Math.round(10 * this.unit())) : 1;
        if (grip === undefined) {
            this.shift(region, dx * step, dy * step);
        } else {
            const [x, y] = gripsOf(region)[grip];
            this.moveGrip(region, Number(grip), [bounded(x + dx * step, 0, this.width), bounded(y + dy * step, 0, this.height)]);
        }
        this.place(region);
        this.changed();
    }
}
