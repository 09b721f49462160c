// One turn with a permission request, by the official TypeScript SDK. Prints what a program sees of it.

import { join } from "node:path";
import { pathToFileURL } from "node:url";

const home = join(process.env.SDK_FOLDER, "node_modules", "@anthropic-ai", "claude-agent-sdk", "sdk.mjs");
const { query } = await import(pathToFileURL(home).href);

const asked = []; // printed after the turn: what comes first is a matter of chance
let done;
const ended = new Promise((resolve) => (done = resolve));

async function* prompts() {
  const message = { role: "user", content: "Make the file" };
  yield { type: "user", message, parent_tool_use_id: null, session_id: "" };
  await ended; // the input stays open while permissions may be asked for
}

async function canUseTool(name, input) {
  asked.push(`asked ${name} ${input.command}`);
  return { behavior: "allow", updatedInput: input };
}

function show(message) {
  if (message.type === "system" && message.subtype === "init")
    console.log("init", message.permissionMode, message.tools.includes("Bash"));
  const content = message.type === "assistant" || message.type === "user" ? message.message.content : [];
  for (const block of typeof content === "string" ? [] : content) {
    if (block.type === "text") console.log("text", block.text);
    if (block.type === "tool_use") console.log("call", block.name, block.input.command);
    if (block.type === "tool_result") console.log("result", block.content, Boolean(block.is_error));
  }
  if (message.type === "result")
    console.log("end", message.subtype, message.is_error, message.num_turns, message.result);
}

const options = {
  pathToClaudeCodeExecutable: process.env.CLAUDE_BIN,
  canUseTool,
  permissionMode: "default",
  env: { ...process.env },
};
for await (const message of query({ prompt: prompts(), options })) {
  show(message);
  if (message.type === "result") done();
}
console.log(asked.join("\n"));
