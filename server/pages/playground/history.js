// SPDX-License-Identifier: MIT
// Undo and redo. Each state is a text, which stands in the address too, and the picture that it belongs to.

export class Steppable {
    // `read` gives the present state, `apply` puts one back, `told` is called when there is more or less to undo.
    constructor(read, apply, told) {
        Object.assign(this, { read, apply, told, states: [], at: -1 });
        document.addEventListener("keydown", (event) => this.key(event));
    }

    // Remembers the present state if it is a new one.
    record() {
        const state = this.read();
        const now = this.states[this.at];
        if (!now || now.text !== state.text || now.picture !== state.picture) {
            this.states.splice(this.at + 1, Infinity, state);
            this.states.splice(0, this.states.length - 100);
            this.at = this.states.length - 1;
        }
        this.show(state.text);
    }

    show(text) {
        history.replaceState(null, "", `#${text}`);
        this.told(this.at > 0, this.at < this.states.length - 1);
    }

    async step(by) {
        this.record(); // a change may be too young to be there
        const state = this.states[this.at + by];
        if (state) {
            this.at += by;
            await this.apply(state);
            this.show(state.text);
        }
    }

    // In a field for a password the browser's own keys stay.
    key(event) {
        const key = event.key.toLowerCase();
        if (!(event.ctrlKey || event.metaKey) || event.altKey || !["z", "y"].includes(key) || event.target.type === "password" || document.querySelector("dialog[open]")) {
            return;
        }
        event.preventDefault();
        this.step(key === "y" || event.shiftKey ? 1 : -1);
    }
}
