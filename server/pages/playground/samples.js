// SPDX-License-Identifier: MIT
// Pictures to begin with. The page draws them itself; nothing is loaded.

// A small generator of numbers that are the same each time.
function numbers(seed) {
    let state = seed;
    return () => {
        state = (state * 1664525 + 1013904223) >>> 0;
        return state / 4294967296;
    };
}

function gradient(context, height, stops) {
    const fill = context.createLinearGradient(0, 0, 0, height);
    stops.forEach(([at, colour]) => fill.addColorStop(at, colour));
    return fill;
}

// The outline of a ridge: waves of falling height and rising number.
function ridge(context, width, height, base, tall, seed) {
    const next = numbers(seed);
    const waves = [1, 2, 4, 8, 16, 33, 67].map((count) => [count, next() * 7, tall / count ** 0.85]);
    context.beginPath();
    context.moveTo(0, height);
    for (let x = 0; x <= width; x += 2) {
        const y = waves.reduce((sum, [count, phase, size]) => sum + Math.sin((x / width) * count * 3.1 + phase) * size, base);
        context.lineTo(x, y);
    }
    context.lineTo(width, height);
    context.fill();
}

// Noise as of a sensor, so that the picture has detail everywhere.
function grain(context, width, height, strength, seed) {
    const next = numbers(seed);
    const pixels = context.getImageData(0, 0, width, height);
    for (let i = 0; i < pixels.data.length; i += 4) {
        const change = (next() + next() - 1) * strength;
        pixels.data[i] += change;
        pixels.data[i + 1] += change;
        pixels.data[i + 2] += change;
    }
    context.putImageData(pixels, 0, 0);
}

function tree(context, x, y, size) {
    context.beginPath();
    for (let layer = 0; layer < 4; layer++) {
        const top = y - size * (1 - layer * 0.2);
        const half = size * (0.1 + layer * 0.055);
        context.moveTo(x, top);
        context.lineTo(x - half, top + size * 0.34);
        context.lineTo(x + half, top + size * 0.34);
    }
    context.rect(x - size * 0.02, y - size * 0.1, size * 0.04, size * 0.1);
    context.fill();
}

function sun(context, x, y, radius) {
    const glow = context.createRadialGradient(x, y, 0, x, y, radius * 7);
    glow.addColorStop(0, "rgba(255,244,214,1)");
    glow.addColorStop(0.13, "rgba(255,240,205,0.95)");
    glow.addColorStop(0.16, "rgba(255,214,150,0.45)");
    glow.addColorStop(1, "rgba(255,190,130,0)");
    context.fillStyle = glow;
    context.fillRect(0, 0, x + radius * 7, y + radius * 7);
}

function landscape(context, width, height) {
    context.fillStyle = gradient(context, height * 0.7, [[0, "#28527a"], [0.45, "#7a93b8"], [0.8, "#f0b48a"], [1, "#f7d6a8"]]);
    context.fillRect(0, 0, width, height);
    sun(context, width * 0.66, height * 0.4, 34);
    ["#8d8fae", "#6a7598", "#475a78", "#2f4559"].forEach((colour, i) => {
        context.fillStyle = colour;
        ridge(context, width, height, height * (0.46 + i * 0.075), 44 - i * 7, 11 + i * 5);
    });
    context.fillStyle = gradient(context, height, [[0.72, "#d99f7c"], [0.8, "#8c8a9c"], [1, "#26405c"]]);
    context.fillRect(0, height * 0.74, width, height * 0.26);
    ripples(context, width, height);
    const next = numbers(5);
    context.fillStyle = "#172a33";
    for (let i = 0; i < 46; i++) {
        const x = (i < 30 ? next() * 0.42 : 0.78 + next() * 0.25) * width;
        tree(context, x, height * (0.76 + next() * 0.06), 50 + next() * 90);
    }
    grain(context, width, height, 9, 3);
}

function ripples(context, width, height) {
    const next = numbers(9);
    for (let i = 0; i < 420; i++) {
        const depth = next();
        const y = height * (0.75 + depth * 0.25);
        const near = Math.abs(next() + next() - 1) * width * 0.3;
        const x = width * 0.66 + (next() < 0.5 ? -near : near);
        context.fillStyle = `rgba(255,226,180,${(0.5 * (1 - near / width / 0.3)).toFixed(3)})`;
        context.fillRect(x, y, 8 + depth * 46, 1 + depth * 1.6);
    }
}

function ellipse(context, x, y, across, down, colour) {
    context.fillStyle = colour;
    context.beginPath();
    context.ellipse(x, y, across, down, 0, 0, 2 * Math.PI);
    context.fill();
}

// A spot that fades out: light and shade on skin.
function shade(context, x, y, across, down, colour) {
    context.save();
    context.translate(x, y);
    context.scale(across, down);
    const fill = context.createRadialGradient(0, 0, 0, 0, 0, 1);
    [0, 0.5, 1].forEach((at) => fill.addColorStop(at, `rgba(${colour},${((1 - at) ** 1.5 * 0.9).toFixed(2)})`));
    context.fillStyle = fill;
    context.fillRect(-1, -1, 2, 2);
    context.restore();
}

function curve(context, colour, width, [x, y], ...bends) {
    Object.assign(context, { strokeStyle: colour, lineWidth: width, lineCap: "round" });
    context.beginPath();
    context.moveTo(x, y);
    bends.forEach((bend) => context.quadraticCurveTo(...bend));
    context.stroke();
}

function eye(context, x, y, side) {
    shade(context, x, y - 4, 44, 30, "96,52,36");
    context.save();
    context.beginPath();
    context.moveTo(x - 23, y + 2);
    context.quadraticCurveTo(x, y - 17, x + 23, y + 1);
    context.quadraticCurveTo(x, y + 14, x - 23, y + 2);
    context.clip();
    ellipse(context, x, y, 26, 18, "#e9e0d8");
    ellipse(context, x, y - 1, 10.5, 10.5, "#5b4331");
    ellipse(context, x, y - 1, 5, 5, "#120d0a");
    ellipse(context, x + 3.5, y - 5, 2.2, 2.2, "#ffffff");
    shade(context, x, y - 14, 30, 14, "40,20,14");
    context.restore();
    curve(context, "#2a1812", 3.5, [x - 24, y + 2], [x, y - 19, x + 24, y + 1]);
    curve(context, "rgba(120,70,50,0.6)", 2, [x - 20, y + 6], [x, y + 17, x + 21, y + 5]);
    curve(context, "rgba(58,36,27,0.85)", 8, [x - 28 * side, y - 24], [x + 2 * side, y - 42, x + 30 * side, y - 27]);
}

function nose(context) {
    shade(context, -15, 30, 16, 46, "170,104,76");
    shade(context, 7, 20, 10, 60, "255,232,212");
    shade(context, 0, 62, 34, 20, "150,84,60");
    shade(context, 4, 48, 16, 16, "255,226,204");
    [-13, 13].forEach((x) => ellipse(context, x, 64, 6.5, 3.4, "rgba(78,36,26,0.85)"));
}

function mouth(context) {
    shade(context, 0, 106, 62, 30, "150,84,66");
    context.fillStyle = "#b1605a";
    context.beginPath();
    context.moveTo(-44, 102);
    context.quadraticCurveTo(-16, 90, 0, 95);
    context.quadraticCurveTo(16, 90, 44, 102);
    context.quadraticCurveTo(0, 136, -44, 102);
    context.fill();
    shade(context, 0, 113, 26, 9, "230,160,150");
    curve(context, "#6e2f2c", 3, [-43, 102], [0, 111, 43, 102]);
    shade(context, 0, 138, 34, 12, "150,90,66");
}

// A head with shoulders around 0,0, 168 from the middle to the chin.
function head(context) {
    ellipse(context, 0, 350, 270, 190, "#2f4b66");
    ellipse(context, 0, -22, 158, 186, "#33201a");
    context.fillStyle = "#c98f6e";
    context.fillRect(-56, 90, 112, 120);
    ellipse(context, 0, 204, 56, 30, "#c98f6e");
    shade(context, 0, 150, 84, 50, "110,62,44");
    [-126, 126].forEach((x) => ellipse(context, x, 14, 18, 34, "#cf9572"));
    const skin = context.createRadialGradient(-20, -40, 30, 0, 0, 190);
    [[0, "#f3cdb2"], [0.55, "#e2ac8a"], [1, "#a8684a"]].forEach(([at, colour]) => skin.addColorStop(at, colour));
    context.fillStyle = skin;
    context.beginPath();
    context.moveTo(-124, -20);
    context.bezierCurveTo(-124, 90, -80, 168, 0, 168);
    context.bezierCurveTo(80, 168, 124, 90, 124, -20);
    context.bezierCurveTo(124, -190, -124, -190, -124, -20);
    context.fill();
    [-72, 72].forEach((x) => shade(context, x, 58, 46, 38, "224,146,118"));
    [-1, 1].forEach((side) => eye(context, side * 52, -8, side));
    nose(context);
    mouth(context);
    context.fillStyle = "#33201a";
    context.beginPath();
    context.moveTo(-126, -24);
    context.bezierCurveTo(-150, -230, 150, -230, 126, -24);
    context.quadraticCurveTo(112, -92, 40, -112);
    context.quadraticCurveTo(-80, -104, -126, -24);
    context.fill();
}

function portrait(context, width, height) {
    context.fillStyle = gradient(context, height, [[0, "#cfd8d3"], [1, "#8fa39d"]]);
    context.fillRect(0, 0, width, height);
    const next = numbers(21);
    for (let i = 0; i < 40; i++) {
        ellipse(context, next() * width, next() * height, 20 + next() * 50, 20 + next() * 50, `rgba(255,255,240,${next() * 0.16})`);
    }
    context.translate(width / 2, 290);
    head(context);
    context.resetTransform();
    grain(context, width, height, 7, 8);
}

// A QR code, a row in each number.
const code = "1fcd7f 105741 174d5d 17415d 17555d 104241 1fd57f 000b00 154412 140ce8 1ec228 1087ee 16f571 001f98 1fc253 1044af 175858 17486a 175d6d 104d87 1fd6b5";

function drawCode(context, x, y, side) {
    context.fillStyle = "#14181d";
    code.split(" ").forEach((row, down) => [...parseInt(row, 16).toString(2).padStart(21, "0")].forEach((bit, across) =>
        bit === "1" && context.fillRect(x + across * side, y + down * side, side, side)));
}

const words = [
    [196, "bold 38px", "Mara Alder"], [252, "22px", "Second engineer"], [316, "26px", "Born 3 May 1987"],
    [360, "26px", "No. 4417 0032 9985"], [404, "26px", "Cabin 12 B, deck 3"],
];

// A card with all that people hide: a face, a name, a number, a code.
function pass(context, width, height) {
    context.fillStyle = gradient(context, height, [[0, "#7d8a94"], [1, "#59656f"]]);
    context.fillRect(0, 0, width, height);
    Object.assign(context, { shadowColor: "rgba(0,0,0,0.4)", shadowBlur: 26, fillStyle: "#fbfbf8" });
    context.beginPath();
    context.roundRect(70, 60, width - 140, height - 120, 22);
    context.fill();
    context.shadowBlur = 0;
    context.clip();
    context.fillStyle = "#1d5c8c";
    context.fillRect(70, 60, width - 140, 84);
    Object.assign(context, { fillStyle: "#ffffff", textBaseline: "top", font: 'bold 34px Georgia, "Liberation Serif", "DejaVu Serif", serif' });
    context.fillText("Harbour Line: staff pass", 110, 84);
    context.fillStyle = "#1d2430";
    words.forEach(([y, font, text]) => {
        context.font = `${font} Georgia, "Liberation Serif", "DejaVu Serif", serif`;
        context.fillText(text, 390, y);
    });
    drawCode(context, 684, 404, 6);
    context.beginPath();
    context.rect(110, 186, 244, 310);
    context.clip();
    context.fillStyle = "#c7d2d6";
    context.fillRect(110, 186, 244, 310);
    context.setTransform(0.66, 0, 0, 0.66, 232, 352);
    head(context);
}

const letter = [
    [30, "bold 40px", "Harbour & Daughters"], [74, "20px", "14 Quay Street, Lowmouth"], [170, "22px", "Dear Ms Alder,"],
    [216, "22px", "your account 4417 0032 9985 1206 was credited with"], [248, "22px", "1,284.50 on the third of May. Please keep this number:"],
    [300, "bold 30px", "PIN 7 3 9 1"], [356, "22px", "Should anything be unclear, call Theo Marsh at"],
    [388, "22px", "+00 555 0147, or write to theo@harbour.example."], [456, "22px", "Yours sincerely,"],
];

function page(context, width, height) {
    context.fillStyle = "#c9cdd2";
    context.fillRect(0, 0, width, height);
    context.fillStyle = "#fdfdfa";
    context.shadowColor = "rgba(0,0,0,0.35)";
    context.shadowBlur = 24;
    context.fillRect(90, 34, width - 180, height - 20);
    context.shadowBlur = 0;
    context.fillStyle = "#1d2430";
    context.textBaseline = "top";
    letter.forEach(([y, font, text]) => {
        context.font = `${font} Georgia, "Liberation Serif", "DejaVu Serif", serif`;
        context.fillText(text, 150, y + 50);
    });
    context.strokeStyle = "#1f3f8f";
    context.lineWidth = 4;
    context.beginPath();
    context.moveTo(160, 575);
    context.bezierCurveTo(220, 500, 210, 640, 260, 560);
    context.bezierCurveTo(290, 510, 290, 620, 330, 568);
    context.bezierCurveTo(370, 530, 380, 600, 450, 556);
    context.stroke();
}

export const samples = [
    { name: "pass.png", title: "Pass", draw: pass, type: "image/png" },
    { name: "landscape.jpg", title: "Landscape", draw: landscape, type: "image/jpeg" },
    { name: "portrait.jpg", title: "Portrait", draw: portrait, type: "image/jpeg" },
    { name: "letter.png", title: "Letter", draw: page, type: "image/png" },
];

// The sample as a file, drawn now.
export function makeSample(sample) {
    const canvas = document.createElement("canvas");
    canvas.width = 960;
    canvas.height = 640;
    sample.draw(canvas.getContext("2d", { willReadFrequently: true }), canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob((blob) => resolve(new File([blob], sample.name, { type: sample.type })), sample.type, 0.92));
}
