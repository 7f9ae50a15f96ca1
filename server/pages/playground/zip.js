// SPDX-License-Identifier: MIT
// Files as one zip. They are stored as they are: pictures are compressed already.

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) {
        rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
    return rest;
});

function checksum(bytes) {
    let rest = 0xffffffff;
    for (const byte of bytes) {
        rest = remainders[(rest ^ byte) & 255] ^ (rest >>> 8);
    }
    return ~rest >>> 0;
}

// Little-endian numbers, of two bytes or of four.
function littleEndian(...fields) {
    const view = new DataView(new ArrayBuffer(fields.reduce((sum, [size]) => sum + size, 0)));
    let at = 0;
    for (const [size, value] of fields) {
        (size === 2 ? view.setUint16(at, value, true) : view.setUint32(at, value, true));
        at += size;
    }
    return new Uint8Array(view.buffer);
}

// What both records of a file say: version 2.0, names in UTF-8, stored, and no date but the first that there is.
function common(name, bytes) {
    return [[2, 20], [2, 0x800], [2, 0], [2, 0], [2, 0x21], [4, checksum(bytes)], [4, bytes.length], [4, bytes.length], [2, name.length], [2, 0]];
}

// Names that are there already get a number: "a.png", "a-2.png".
function unique(name, taken) {
    let free = name;
    for (let count = 2; taken.has(free); count++) {
        free = name.replace(/(\.\w+)?$/, (ending) => `-${count}${ending}`);
    }
    taken.add(free);
    return free;
}

// `files`: { name, blob } each.
export async function makeZip(files) {
    const [parts, index, taken] = [[], [], new Set()];
    let at = 0;
    for (const { name, blob } of files) {
        const bytes = new Uint8Array(await blob.arrayBuffer());
        const text = new TextEncoder().encode(unique(name, taken));
        const head = littleEndian([4, 0x04034b50], ...common(text, bytes));
        index.push(littleEndian([4, 0x02014b50], [2, 20], ...common(text, bytes), [2, 0], [2, 0], [2, 0], [4, 0], [4, at]), text);
        parts.push(head, text, bytes);
        at += head.length + text.length + bytes.length;
    }
    const size = index.reduce((sum, part) => sum + part.length, 0);
    const end = littleEndian([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, at], [2, 0]);
    return new Blob([...parts, ...index, end], { type: "application/zip" });
}
