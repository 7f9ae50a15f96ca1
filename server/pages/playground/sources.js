// SPDX-License-Identifier: MIT
// Where pictures come from: a file, several of them, what is dropped or pasted, a sample.
import { element } from "./controls.js";
import { opened, pastedName } from "./formats.js";
import { makeSample, samples } from "./samples.js";
import { find } from "./view.js";

// `take` gets the files, `takeSample` a file and the title of its sample.
export function makeSources(take, takeSample) {
    const given = (list) => {
        const files = [...(list ?? [])].map((file) => (file.name ? file : new File([file], pastedName(file.type), { type: file.type })));
        files.length > 0 && take(files);
        return files.length > 0;
    };
    samples.forEach((sample) => {
        const button = element("button", { type: "button", "data-sample": sample.title }, sample.title);
        button.addEventListener("click", async () => takeSample(await makeSample(sample), sample.title));
        find("samples").append(button);
    });
    find("file").accept = opened;
    find("file").addEventListener("change", () => {
        given(find("file").files);
        find("file").value = ""; // the same file may be chosen again
    });
    document.addEventListener("paste", (event) => given(event.clipboardData?.files) && event.preventDefault());
    document.addEventListener("dragover", (event) => {
        event.preventDefault();
        find("stage").classList.add("dragging");
    });
    document.addEventListener("dragleave", (event) => event.relatedTarget ?? find("stage").classList.remove("dragging"));
    document.addEventListener("drop", (event) => {
        event.preventDefault();
        find("stage").classList.remove("dragging");
        given(event.dataTransfer?.files);
    });
}

export async function display(url) {
    find("before").src = url;
    return find("before").decode().then(() => true, () => false);
}
