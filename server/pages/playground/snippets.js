// SPDX-License-Identifier: MIT
// The request as programs that give the same bytes: one for curl, Python, JavaScript, Go and C# each.
import { targetOf } from "./request.js";

// --- curl ---

function shellQuote(text) {
    return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

// Names that would be taken for something else get their folder before them.
function safeName(name) {
    return /^[-@]/.test(name) ? `./${name}` : name;
}

// curl reads the value of -F itself, before the daemon does.
function formFile(name) {
    return /[;,"\\]/.test(name) ? `image=@"${name.replace(/["\\]/g, "\\$&")}"` : `image=@${name}`;
}

function curl({ request, origin, fileName, outputName, token }) {
    const { target, form } = targetOf(request);
    const words = ["curl -f"];
    const lines = token ? ['-H "Authorization: Bearer $TOKEN"'] : [];
    if (form) {
        lines.push(`-F ${shellQuote(formFile(safeName(fileName)))}`);
        request.pairs.forEach(([name, value]) => lines.push(`--form-string ${shellQuote(`${name}=${value}`)}`));
    } else {
        lines.push(`--data-binary ${shellQuote(`@${safeName(fileName)}`)}`);
    }
    lines.push(shellQuote(origin + target));
    if (outputName) {
        lines.push(`-o ${shellQuote(safeName(outputName))}`);
    }
    const line = [...words, ...lines].join(" ");
    return line.length <= 72 ? line : `curl -f ${lines.join(" \\\n  ")}`;
}

// --- programs ---

// JSON's strings are strings in all four languages, with the same escapes.
const quote = (text) => JSON.stringify(text);
const lines = (...parts) => parts.flat().filter((part) => part !== null).join("\n");

function python({ request, origin, fileName, outputName, token }) {
    const { target, form } = targetOf(request);
    const headers = token ? ['    headers={"Authorization": f"Bearer {os.environ[\'TOKEN\']}"},'] : [];
    const fields = request.pairs.map(([name, value]) => `        (${quote(name)}, ${quote(value)}),`);
    return lines(`import ${token ? "os, " : ""}requests`, "",
        `picture = open(${quote(fileName)}, "rb")`,
        "answer = requests.post(", `    ${quote(origin + target)},`,
        form ? ["    data=[", ...fields, "    ],", `    files={"image": picture},`] : "    data=picture,",
        headers, ")", "answer.raise_for_status()",
        outputName ? `open(${quote(outputName)}, "wb").write(answer.content)` : "print(answer.text)");
}

function javascript({ request, origin, fileName, outputName, token }) {
    const { target, form } = targetOf(request);
    const fields = request.pairs.map(([name, value]) => `body.append(${quote(name)}, ${quote(value)});`);
    return lines('const { readFile, writeFile } = await import("node:fs/promises");', "",
        form ? ["const body = new FormData();", ...fields, `body.append("image", new Blob([await readFile(${quote(fileName)})]), ${quote(fileName)});`]
            : `const body = await readFile(${quote(fileName)});`,
        `const answer = await fetch(${quote(origin + target)}, {`, '    method: "POST", body,',
        token ? "    headers: { Authorization: `Bearer ${process.env.TOKEN}` }," : null, "});",
        "if (!answer.ok) throw new Error(await answer.text());",
        outputName ? `await writeFile(${quote(outputName)}, new Uint8Array(await answer.arrayBuffer()));` : "process.stdout.write(await answer.text());");
}

function goForm(pairs, fileName) {
    const fields = pairs.map(([name, value]) => `\tform.WriteField(${quote(name)}, ${quote(value)})`);
    return ["\tvar body bytes.Buffer", "\tform := multipart.NewWriter(&body)", ...fields,
        `\tpart, err := form.CreateFormFile("image", ${quote(fileName)})`, "\tcheck(err)",
        "\tio.Copy(part, picture)", "\tform.Close()"];
}

function go({ request, origin, fileName, outputName, token }) {
    const { target, form } = targetOf(request);
    const packages = [...(form ? ["bytes"] : []), ...(outputName ? [] : ["fmt"]), "io", "log", ...(form ? ["mime/multipart"] : []), "net/http", "os"];
    return lines("package main", "", "import (", packages.map((name) => `\t${quote(name)}`), ")", "",
        "func check(err error) {", "\tif err != nil {", "\t\tlog.Fatal(err)", "\t}", "}", "",
        "func main() {", `\tpicture, err := os.Open(${quote(fileName)})`, "\tcheck(err)",
        form ? goForm(request.pairs, fileName) : [],
        `\trequest, err := http.NewRequest("POST", ${quote(origin + target)}, ${form ? "&body" : "picture"})`, "\tcheck(err)",
        form ? '\trequest.Header.Set("Content-Type", form.FormDataContentType())' : null,
        token ? '\trequest.Header.Set("Authorization", "Bearer "+os.Getenv("TOKEN"))' : null,
        "\tanswer, err := http.DefaultClient.Do(request)", "\tcheck(err)",
        "\tcontent, err := io.ReadAll(answer.Body)", "\tcheck(err)",
        "\tif answer.StatusCode != 200 {", "\t\tlog.Fatal(string(content))", "\t}",
        outputName ? `\tcheck(os.WriteFile(${quote(outputName)}, content, 0o644))` : "\tfmt.Println(string(content))", "}");
}

// .NET refuses a quotation mark in the name that a form gives a file.
function csharp({ request, origin, fileName, outputName, token }) {
    const { target, form } = targetOf(request);
    const content = `new ByteArrayContent(File.ReadAllBytes(${quote(fileName)}))`;
    const fields = request.pairs.map(([name, value]) => `body.Add(new StringContent(${quote(value)}), ${quote(name)});`);
    return lines(token ? ["using System.Net.Http.Headers;", ""] : [], "using var client = new HttpClient();",
        token ? 'client.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("TOKEN"));' : null,
        form ? ["using var body = new MultipartFormDataContent();", ...fields, `body.Add(${content}, "image", ${quote(fileName.replaceAll('"', "_"))});`]
            : `using var body = ${content};`,
        `using var answer = await client.PostAsync(${quote(origin + target)}, body);`,
        "byte[] content = await answer.Content.ReadAsByteArrayAsync();",
        "if (!answer.IsSuccessStatusCode) throw new Exception(System.Text.Encoding.UTF8.GetString(content));",
        outputName ? `File.WriteAllBytes(${quote(outputName)}, content);` : "Console.WriteLine(System.Text.Encoding.UTF8.GetString(content));");
}

export const languages = [["curl", curl], ["Python", python], ["JavaScript", javascript], ["Go", go], ["C#", csharp]];
