// SPDX-License-Identifier: MIT
// The steps of a pipeline: cards with a filter and its fields each.
import { element, makeFields, pairsOf } from "./controls.js";

// What the daemon takes where nothing is given; fields begin with something that can be seen.
const plainValues = (filter) => Object.fromEntries(filter.own.map((row) => [row.name, row.default ?? null]));

export class Steps {
    constructor(container, filters, most, changed) {
        this.filters = filters;
        this.most = most;
        this.changed = changed;
        this.made = 0;
        this.list = [];
        this.cards = element("div", { class: "panel" });
        this.more = element("button", { type: "button", id: "add-step" }, "Add a step");
        this.more.addEventListener("click", () => this.add(this.filters[0]).node.querySelector("select").focus());
        container.append(this.cards, this.more);
        this.reset();
    }

    reset() {
        this.list = [];
        this.cards.replaceChildren();
        this.add(this.filters.find((filter) => filter.name === "blur"), { sigma: 2 });
        this.add(this.filters.find((filter) => filter.name === "convolve"));
    }

    add(filter, values = {}) {
        const step = { number: ++this.made, node: element("div", { class: "step", role: "group" }) };
        this.list.push(step);
        this.fill(step, filter, values);
        this.cards.append(step.node);
        this.update();
        return step;
    }

    fill(step, filter, values) {
        const choose = element("select", { "aria-label": "Filter of this step" }, ...this.filters.map((one) => element("option", { value: one.name }, one.title)));
        choose.value = filter.name;
        choose.addEventListener("change", () => {
            this.fill(step, this.filters.find((one) => one.name === choose.value), {});
            this.update();
            step.node.querySelector("select").focus();
        });
        const up = this.button("↑", "Move this step up", () => this.move(step));
        const away = this.button("Remove", "Remove this step", () => this.remove(step));
        step.filter = filter;
        step.up = up;
        step.away = away;
        step.node.replaceChildren(element("div", { class: "bar" }, choose, up, away));
        step.fields = makeFields(filter.own, `step${step.number}`, step.node, this.changed);
        step.fields.filter((field) => field.name in values).forEach((field) => field.set(values[field.name]));
    }

    button(text, label, action) {
        const button = element("button", { type: "button", class: "small", "aria-label": label }, text);
        button.addEventListener("click", action);
        return button;
    }

    move(step) {
        const at = this.list.indexOf(step);
        this.list.splice(at, 1);
        this.list.splice(at - 1, 0, step);
        this.cards.replaceChildren(...this.list.map((one) => one.node));
        this.update();
        (step.up.disabled ? step.away : step.up).focus();
    }

    remove(step) {
        this.list = this.list.filter((one) => one !== step);
        step.node.remove();
        this.update();
        this.more.focus();
    }

    update() {
        this.list.forEach((step, index) => {
            step.node.setAttribute("aria-label", `Step ${index + 1}`);
            step.up.disabled = index === 0;
        });
        this.more.disabled = this.list.length >= this.most;
        this.changed();
    }

    text() {
        return this.list.map((step) => [step.filter.name, ...pairsOf(step.fields).map(([name, value]) => `${name}=${value}`)].join(":")).join("|");
    }

    // The steps of such a text; one without any known filter is as good as none. A colon may stand within a value.
    set(text) {
        this.list = [];
        this.cards.replaceChildren();
        for (const step of text.split("|").slice(0, this.most)) {
            const [name, ...values] = step.split(/:(?=\w+=)/);
            const filter = this.filters.find((one) => one.name === name);
            if (filter) {
                this.add(filter, { ...plainValues(filter), ...Object.fromEntries(values.map((value) => value.split(/=(.*)/s))) });
            }
        }
        if (this.list.length === 0) {
            this.reset();
        }
    }

    // The daemon names the step by its number: "ops: step 2: sigma is 0, …".
    mark(sentence) {
        const [, number, rest] = /^ops: step (\d+): (.*)$/.exec(sentence ?? "") ?? [];
        this.list.forEach((step, index) => {
            const here = index + 1 === Number(number);
            step.node.classList.toggle("group-wrong", here);
            step.fields.forEach((field) => field.mark(here && rest.startsWith(`${field.name} `) ? rest : null));
        });
    }
}
