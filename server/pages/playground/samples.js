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

function eye(context, x, y) {
    ellipse(context, x, y, 22, 12, "#fbf6f0");
    ellipse(context, x, y, 11, 11, "#4f7a6b");
    ellipse(context, x, y, 5, 5, "#14110f");
    ellipse(context, x + 3, y - 4, 2.5, 2.5, "#ffffff");
    context.strokeStyle = "#3a241b";
    context.lineWidth = 7;
    context.lineCap = "round";
    context.beginPath();
    context.arc(x, y + 34, 62, -2.05, -1.09);
    context.stroke();
}

function portrait(context, width, height) {
    context.fillStyle = gradient(context, height, [[0, "#cfd8d3"], [1, "#8fa39d"]]);
    context.fillRect(0, 0, width, height);
    const next = numbers(21);
    for (let i = 0; i < 40; i++) {
        ellipse(context, next() * width, next() * height, 20 + next() * 50, 20 + next() * 50, `rgba(255,255,240,${next() * 0.16})`);
    }
    const x = width / 2;
    ellipse(context, x, 640, 270, 190, "#2f4b66");
    ellipse(context, x, 262, 172, 200, "#3a241b");
    context.fillStyle = "#d69a78";
    context.fillRect(x - 52, 380, 104, 110);
    ellipse(context, x, 486, 52, 30, "#d69a78");
    const skin = context.createRadialGradient(x - 40, 230, 20, x, 290, 200);
    skin.addColorStop(0, "#f6cdb0");
    skin.addColorStop(1, "#dba07c");
    ellipse(context, x, 290, 132, 168, skin);
    context.fillStyle = "#3a241b";
    context.beginPath();
    context.ellipse(x, 190, 140, 80, 0, Math.PI, 2 * Math.PI);
    context.quadraticCurveTo(x + 60, 214, x - 30, 158);
    context.quadraticCurveTo(x - 90, 204, x - 140, 190);
    context.fill();
    eye(context, x - 54, 274);
    eye(context, x + 54, 274);
    ellipse(context, x - 74, 346, 26, 17, "rgba(222,120,100,0.28)");
    ellipse(context, x + 74, 346, 26, 17, "rgba(222,120,100,0.28)");
    context.strokeStyle = "#b97a58";
    context.lineWidth = 5;
    context.beginPath();
    context.moveTo(x + 4, 290);
    context.quadraticCurveTo(x + 22, 336, x - 6, 338);
    context.stroke();
    context.fillStyle = "#b4504a";
    context.beginPath();
    context.moveTo(x - 48, 378);
    context.quadraticCurveTo(x, 396, x + 48, 378);
    context.quadraticCurveTo(x, 432, x - 48, 378);
    context.fill();
    grain(context, width, height, 12, 8);
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
