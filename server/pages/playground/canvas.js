// SPDX-License-Identifier: MIT
// Where the picture lies in the window: zoom, pan, and the slider between before and after, which stays in the window.
import { find } from "./view.js";

const closest = 64; // pixels of the screen for one of the picture
const limit = (value, least, most) => Math.min(Math.max(value, least), Math.max(least, most));

export class Canvas {
    // `giveUp` ends a drawing when a second finger comes.
    constructor(stage, frame, giveUp) {
        Object.assign(this, { stage, frame, giveUp, width: 0, height: 0, scale: 1, x: 0, y: 0, fitted: true, pointers: new Map() });
        stage.addEventListener("pointerdown", (event) => this.touch(event), true);
        stage.addEventListener("pointerdown", (event) => this.press(event));
        stage.addEventListener("pointermove", (event) => this.pull(event), true);
        ["pointerup", "pointercancel"].forEach((name) => addEventListener(name, (event) => this.release(event)));
        stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        stage.addEventListener("keydown", (event) => this.key(event));
        stage.addEventListener("scroll", () => stage.scrollTo(0, 0)); // focus of a handle outside of the window
        find("split").addEventListener("input", () => this.showSplit());
        const watch = new ResizeObserver(() => (this.fitted ? this.fit() : this.place()));
        [stage, find("result"), find("outcome")].forEach((node) => watch.observe(node));
    }

    setPicture(width, height) {
        Object.assign(this, { width, height });
        this.fit();
    }

    // The part of the stage that nothing floats over.
    room() {
        const style = getComputedStyle(this.stage);
        const [left, top, right, bottom] = ["Left", "Top", "Right", "Bottom"].map((side) => parseFloat(style[`padding${side}`]));
        const box = this.stage.getBoundingClientRect();
        const covered = box.bottom - find("outcome").getBoundingClientRect().top + 10; // narrow windows have it below
        const below = covered > 10 ? covered + bottom : bottom;
        return { left, top, right: box.width - right, bottom: Math.max(top + 80, box.height - below) };
    }

    smallest() {
        const room = this.room();
        return Math.min((room.right - room.left) / this.width, (room.bottom - room.top) / this.height);
    }

    fit() {
        if (!this.width) {
            return;
        }
        const room = this.room();
        this.scale = Math.min(this.smallest(), 8);
        this.x = (room.left + room.right - this.width * this.scale) / 2;
        this.y = (room.top + room.bottom - this.height * this.scale) / 2;
        this.fitted = true;
        this.place();
    }

    // What lies at a point of the stage stays there; without a point it is the middle.
    zoom(scale, point) {
        const room = this.room();
        const [x, y] = point ?? [(room.left + room.right) / 2, (room.top + room.bottom) / 2];
        const next = limit(scale, Math.min(this.smallest(), 1) / 2, closest);
        this.x = x - ((x - this.x) / this.scale) * next;
        this.y = y - ((y - this.y) / this.scale) * next;
        this.scale = next;
        this.fitted = false;
        this.place();
    }

    pan(dx, dy) {
        this.x += dx;
        this.y += dy;
        this.fitted = false;
        this.place();
    }

    place() {
        if (!this.width) {
            return;
        }
        const room = this.room();
        const [wide, tall] = [this.width * this.scale, this.height * this.scale];
        this.x = limit(this.x, room.left + 60 - wide, room.right - 60); // a piece of it is always to be seen
        this.y = limit(this.y, room.top + 60 - tall, room.bottom - 60);
        Object.assign(this.frame.style, { left: `${this.x}px`, top: `${this.y}px`, width: `${wide}px`, height: `${tall}px` });
        this.frame.classList.toggle("coarse", this.scale >= 2);
        find("zoom-fit").textContent = `${this.scale < 0.1 ? (this.scale * 100).toFixed(1) : Math.round(this.scale * 100)}%`;
        const [left, right] = [Math.max(this.x, room.left), Math.min(this.x + wide, room.right)];
        const bottom = Math.min(this.y + tall, room.bottom);
        Object.assign(this, { left, right: Math.max(left + 1, right) });
        Object.assign(find("split").style, { left: `${left - 15}px`, width: `${this.right - left + 30}px`, top: `${bottom - 15}px` });
        this.showSplit();
    }

    // The slider divides what is seen of the picture, at any zoom.
    showSplit() {
        const at = this.left + (find("split").value / 100) * (this.right - this.left);
        const part = ((at - this.x) / (this.width * this.scale)) * 100;
        this.frame.style.setProperty("--split", `${Number(limit(part, 0, 100).toFixed(4))}%`);
    }

    // --- mouse and touch ---

    at({ clientX, clientY }) {
        const box = this.stage.getBoundingClientRect();
        return [clientX - box.left, clientY - box.top];
    }

    touch(event) {
        if (event.target === find("split")) {
            return;
        }
        this.pointers.set(event.pointerId, this.at(event));
        if (this.pointers.size > 1) {
            this.giveUp();
            this.panning = true;
            event.stopPropagation();
        } else if (event.button === 1) {
            this.panning = true;
            event.preventDefault();
        }
    }

    // Presses that take a region or draw one do not come here.
    press(event) {
        this.panning ||= this.pointers.has(event.pointerId) && event.button === 0;
        if (this.panning) {
            this.stage.setPointerCapture(event.pointerId);
        }
        this.stage.classList.toggle("panning", Boolean(this.panning));
    }

    pull(event) {
        const before = this.pointers.get(event.pointerId);
        if (!before) {
            return;
        }
        const all = [...this.pointers.values()];
        const now = this.at(event);
        this.pointers.set(event.pointerId, now);
        if (this.panning) {
            this.pan((now[0] - before[0]) / all.length, (now[1] - before[1]) / all.length);
        }
        if (this.panning && all.length === 2) {
            const other = all.find((point) => point !== before);
            const apart = ([x, y]) => Math.max(1, Math.hypot(x - other[0], y - other[1]));
            this.zoom((this.scale * apart(now)) / apart(before), [(now[0] + other[0]) / 2, (now[1] + other[1]) / 2]);
        }
    }

    release(event) {
        this.pointers.delete(event.pointerId);
        if (this.pointers.size === 0) {
            this.panning = false;
            this.stage.classList.remove("panning");
        }
    }

    wheel(event) {
        event.preventDefault();
        if (event.shiftKey) {
            this.pan(-event.deltaX - event.deltaY, 0);
        } else {
            const lines = event.deltaMode === 1 ? 20 : 1;
            this.zoom(this.scale * 1.0025 ** -limit(event.deltaY * lines * (event.ctrlKey ? 4 : 1), -240, 240), this.at(event));
        }
    }

    // --- keyboard ---

    // Twice as large or half as large, over the round numbers.
    zoomBy(factor) {
        const step = Math.log2(this.scale);
        this.zoom(2 ** (factor > 1 ? Math.floor(step + 1.001) : Math.ceil(step - 1.001)));
    }

    key(event) {
        const [dx, dy] = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] ?? [];
        const action = { "+": () => this.zoomBy(2), "=": () => this.zoomBy(2), "-": () => this.zoomBy(0.5), 0: () => this.fit(), 1: () => this.zoom(1) }[event.key];
        if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.target === find("split")) {
            return;
        }
        if (dx !== undefined && !event.target.closest("[data-region]")) {
            event.preventDefault();
            this.pan(dx * 60, dy * 60);
        } else if (action) {
            event.preventDefault();
            action();
        }
    }
}
