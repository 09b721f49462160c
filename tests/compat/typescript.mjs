// Answers calls of the official TypeScript SDK: [[name, ...arguments], ...] in a file, the values or errors on stdout.
// Before a call that is an object, its files are written: {files: {path: text or null}, call: [...]}.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const folder = join(process.env.SDK_FOLDER, "node_modules", "@anthropic-ai", "claude-agent-sdk");
const sdk = await import(pathToFileURL(join(folder, "sdk.mjs")).href);

async function answer([name, ...words]) {
  if (name === "exports") return Object.keys(sdk).sort();
  if (name === "declarations") return readFileSync(join(folder, "sdk.d.ts"), "utf8");
  return typeof sdk[name] === "function" ? await sdk[name](...words) : sdk[name];
}

const answers = [];
for (const asked of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  for (const [path, text] of Object.entries(asked.files ?? {})) {
    mkdirSync(dirname(path), { recursive: true });
    if (text === null) rmSync(path, { force: true });
    else writeFileSync(path, text);
  }
  try {
    answers.push({ value: (await answer(asked.call ?? asked)) ?? null });
  } catch (error) {
    answers.push({ error: error.message });
  }
}
console.log(JSON.stringify(answers));
