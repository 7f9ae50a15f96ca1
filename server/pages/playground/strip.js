// SPDX-License-Identifier: MIT
// Several pictures: a strip of them, what is hidden in all, and one zip of those in which something was hidden.
import { element } from "./controls.js";
import { lookAt, outputName } from "./formats.js";
import { hasHidden, send } from "./request.js";
import { find, offer, readProblem } from "./view.js";
import { makeZip } from "./zip.js";

const atOnce = 3; // requests

export class Strip {
    // `show` opens the picture of an entry, `describeFor` gives its request or null, `access` the token.
    constructor(show, describeFor, access) {
        Object.assign(this, { show, describeFor, access, entries: [], current: null, run: null, zip: null });
        find("hide-all").addEventListener("click", () => this.hideAll());
    }

    // { file, regions, state, blob } of each; one picture alone needs no strip.
    open(files) {
        this.stale();
        this.entries.forEach(({ url }) => URL.revokeObjectURL(url));
        this.entries = files.length < 2 ? [] : files.map((file) => this.make(file));
        this.current = null;
        find("strip-list").replaceChildren(...this.entries.map((entry) => entry.node));
        find("strip").hidden = this.entries.length === 0;
        document.body.classList.toggle("several", this.entries.length > 0);
        find("hide-all").textContent = `Hide in all ${this.entries.length}`;
        this.tell();
    }

    // The entry of a file that is shown from now on, or null.
    enter(file) {
        this.current = this.entries.find((entry) => entry.file === file) ?? null;
        this.tell();
        return this.current;
    }

    make(file) {
        const entry = { file, regions: null, state: "", blob: null, url: URL.createObjectURL(file) };
        const thumb = element("img", { alt: "", src: entry.url });
        thumb.addEventListener("error", () => thumb.remove());
        const button = element("button", { type: "button", class: "thumb" }, thumb, element("span", { class: "name" }, file.name), element("span", { class: "state" }));
        button.addEventListener("click", () => this.show(entry));
        entry.node = element("li", {}, button);
        return entry;
    }

    // Results that no longer belong to what is chosen are dropped, and so is the zip.
    stale() {
        this.run?.abort();
        this.run = null;
        this.entries.forEach((entry) => Object.assign(entry, { state: "", blob: null, name: null }));
        offer(find("zip"), "", null);
        URL.revokeObjectURL(this.zip);
        this.zip = null;
        this.tell();
    }

    tell() {
        this.entries.forEach((entry) => {
            const button = entry.node.firstChild;
            button.setAttribute("aria-pressed", String(entry === this.current));
            button.classList.toggle("done", Boolean(entry.blob));
            button.classList.toggle("bad", Boolean(entry.state) && !entry.blob && entry.state !== "…");
            button.lastChild.textContent = entry.state;
            button.title = `${entry.file.name}${entry.state ? `: ${entry.state}` : ""}`;
        });
        const done = this.entries.filter((entry) => entry.blob).length;
        const left = this.entries.filter((entry) => entry.state && !entry.blob && entry.state !== "…");
        const sentence = done + left.length === 0 ? "Each is searched. Where you have marked something yourself, that is hidden instead."
            : [`${done} of ${this.entries.length} hidden.`, ...left.map((entry) => `${entry.file.name}: ${entry.state}.`)].join(" ");
        find("strip-status").textContent = this.run ? `${done + left.length} of ${this.entries.length} …` : sentence;
        find("hide-all").disabled = Boolean(this.run);
    }

    async hideAll() {
        this.stale();
        const run = new AbortController();
        this.run = run;
        const waiting = [...this.entries];
        const work = async () => {
            for (let entry = waiting.shift(); entry && !run.signal.aborted; entry = waiting.shift()) {
                await this.hide(entry, run.signal);
            }
        };
        this.tell();
        await Promise.all(Array.from({ length: atOnce }, work));
        if (this.run === run) {
            this.run = null;
            await this.finish(run);
        }
    }

    // A failure is said at its picture, and the others go on.
    async hide(entry, signal) {
        entry.state = "…";
        const done = await this.ask(entry, signal).catch(() => ({ state: "failed, no answer" }));
        if (!signal.aborted) {
            Object.assign(entry, done);
            this.tell();
        }
    }

    async ask(entry, signal) {
        const looked = await lookAt(entry.file);
        const request = this.describeFor(entry, looked.animated);
        if (!request) {
            return { state: "nothing marked, not in the zip" };
        }
        const { answer, blob } = await send(request, entry, this.access(), signal);
        if (answer.ok && hasHidden(request, answer)) {
            return { state: "hidden", blob, name: outputName(entry.file.name, "hidden", blob.type) };
        }
        const problem = answer.ok ? { type: "no-region" } : await readProblem(answer, blob);
        return { state: problem.type?.endsWith("no-region") ? "nothing found, not in the zip" : `failed, ${problem.title}` };
    }

    async finish(run) {
        const files = this.entries.filter((entry) => entry.blob && entry.name);
        const zip = files.length > 0 ? URL.createObjectURL(await makeZip(files)) : null;
        if (run.signal.aborted) {
            URL.revokeObjectURL(zip);
            return; // something was changed meanwhile
        }
        this.zip = zip;
        offer(find("zip"), zip ?? "", zip ? "hidden.zip" : null);
        find("zip").textContent = `Download ${files.length} as a zip`;
        this.tell();
    }
}
