// SPDX-License-Identifier: MIT
// Fields for parameters, made of the rows of parameters.json. A field tells its value as the daemon takes it, or null
// when it is the default and need not be sent.

// An element with attributes and children: element("p", { class: "help" }, "text").
export function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (value !== undefined && value !== false) {
            made.setAttribute(name, value === true ? "" : value);
        }
    }
    made.append(...children);
    return made;
}

// Sliders have 1000 steps, at equal factors where the scale is logarithmic.
function fromSlider(row, position) {
    const part = position / 1000;
    const value = row.slider === "log" ? row.minimum * (row.maximum / row.minimum) ** part : row.minimum + (row.maximum - row.minimum) * part;
    const digits = row.type === "whole" ? 0 : value < 10 ? 1 : 0;
    return Number(value.toFixed(digits));
}

function toSlider(row, value) {
    const bounded = Math.min(Math.max(value, row.minimum), row.maximum);
    const part = row.slider === "log" ? Math.log(bounded / row.minimum) / Math.log(row.maximum / row.minimum) : (bounded - row.minimum) / (row.maximum - row.minimum);
    return Math.round(part * 1000) || 0;
}

function numberControl(row, id, changed) {
    const input = element("input", { type: "number", id, step: "any", placeholder: row.placeholder, inputmode: "decimal", autocomplete: "off" });
    const controls = [input];
    let range;
    if (row.slider) {
        range = element("input", { type: "range", min: 0, max: 1000, step: 1, "aria-label": `${row.label}, slider` });
        range.addEventListener("input", () => {
            input.value = fromSlider(row, Number(range.value));
            tell();
            changed();
        });
        controls.push(range);
    }
    const tell = () => range.setAttribute("aria-valuetext", `${input.value} ${row.unit ?? ""}`.trim());
    const follow = () => {
        if (range && input.value !== "") {
            range.value = toSlider(row, Number(input.value));
            tell();
        }
    };
    input.addEventListener("input", () => {
        follow();
        changed();
    });
    const set = (value) => {
        input.value = value ?? "";
        follow();
    };
    // What is no number at all is sent, too: the daemon says best what is wrong with it.
    const get = () => (input.validity.badInput ? "?" : input.value === "" || Number(input.value) === row.default ? null : input.value);
    return { input, controls, get, set };
}

// Values as the daemon takes them, in words where the row has some.
function optionsOf({ choices, words }) {
    return choices.map((choice, index) => element("option", { value: choice }, words?.[index] ?? choice));
}

function choiceControl(row, id, changed) {
    const input = element("select", { id }, ...optionsOf(row));
    input.addEventListener("change", changed);
    return {
        input, controls: [input],
        get: () => (input.value === row.choices[0] ? null : input.value),
        set: (value) => (input.value = value ?? row.choices[0]),
    };
}

function switchControl(row, id, changed) {
    const input = element("input", { id, type: "checkbox" });
    input.addEventListener("change", changed);
    return { input, controls: [input], get: () => (input.checked ? "true" : null), set: (value) => (input.checked = value === true || value === "true") };
}

function textControl(row, id, changed) {
    const common = { id, spellcheck: "false", placeholder: row.placeholder, autocomplete: "off" };
    const input = row.lines ? element("textarea", { ...common, rows: row.lines }) : element("input", { ...common, type: "text" });
    input.addEventListener("input", changed);
    return { input, controls: [input], get: () => input.value.trim() || null, set: (value) => (input.value = value ?? "") };
}

// A choice whose last option is a colour, which then has a control of its own.
function colourControl(row, id, changed) {
    const [plain, own] = [row.choices[0], "colour"];
    const input = element("select", { id }, ...optionsOf(row), element("option", { value: own }, "another colour"));
    const colour = element("input", { type: "color", "aria-label": `${row.label}, colour`, hidden: true });
    const follow = () => (colour.hidden = input.value !== own);
    input.addEventListener("change", () => {
        follow();
        changed();
    });
    colour.addEventListener("input", changed);
    const set = (value) => {
        const named = !value || row.choices.includes(value);
        input.value = named ? value || plain : own;
        colour.value = named ? "#000000" : `#${value.replace("#", "").slice(0, 6)}`;
        follow();
    };
    return { input, controls: [input, colour], set, get: () => (input.value === own ? colour.value.slice(1) : input.value === plain ? null : input.value) };
}

const makers = { real: numberControl, whole: numberControl, choice: choiceControl, switch: switchControl, text: textControl, colour: colourControl };

// A labelled field. `start` is the value the page begins with, where that is not the daemon's default.
function makeField(row, prefix, changed) {
    const id = `${prefix}-${row.name}`;
    const control = makers[row.type](row, id, changed);
    const label = element("label", { for: id, title: row.help }, row.label);
    if (row.unit) {
        label.append(element("span", { class: "unit" }, `, ${row.unit}`));
    }
    const help = element("p", { class: "help", id: `${id}-help` }, row.help);
    const wrong = element("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
    control.input.setAttribute("aria-describedby", `${id}-help ${id}-wrong`);
    const field = {
        name: row.name,
        node: element("div", { class: "field", "data-parameter": row.name }, label, ...control.controls, help, wrong),
        get: control.get,
        set: control.set,
        reset: () => control.set(row.start ?? row.default),
        plain: () => control.set(row.default),
        mark(sentence) {
            control.input.toggleAttribute("aria-invalid", Boolean(sentence));
            if (sentence) {
                control.input.setAttribute("aria-invalid", "true");
            }
            wrong.textContent = sentence ?? "";
            wrong.hidden = !sentence;
        },
    };
    field.reset();
    return field;
}

// Of two fields only one may be given: what is entered into the one empties the other.
function exclude(one, other) {
    one.node.addEventListener("input", () => one.get() && other.set(null), true);
    other.node.addEventListener("change", () => other.get() && one.set(null), true);
}

// What few people need is folded away, below what all see.
export function makeFields(rows, prefix, container, changed) {
    const fields = rows.map((row) => makeField(row, prefix, changed));
    const [seen, folded] = [false, true].map((expert) => fields.filter((_, index) => Boolean(rows[index].expert) === expert).map((field) => field.node));
    container.append(...seen);
    if (folded.length > 0) {
        container.append(element("details", { class: "expert" }, element("summary", {}, "More"), element("div", { class: "folded" }, ...folded)));
    }
    rows.forEach((row, index) => row.instead_of && exclude(fields[index], fields.find((field) => field.name === row.instead_of)));
    return fields;
}

// What is to be sent of the fields: [name, value] each.
export function pairsOf(fields) {
    return fields.map((field) => [field.name, field.get()]).filter(([, value]) => value !== null);
}

// A row of radio buttons that look like buttons.
export function makeChoice(container, name, options, chosen) {
    options.forEach(([value, title], index) => {
        const input = element("input", { type: "radio", name, value, checked: index === 0 });
        input.addEventListener("change", () => chosen(value));
        container.append(element("label", { class: "choice" }, input, element("span", {}, title)));
    });
}
