// Drives an agent with the official ACP library through a whole session. Prints what came, as JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, cwd, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(`${sdk}/dist/v1/unstable/acp.js`).href);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((done) => agent.on("exit", done));
const seen = { updates: [], permissions: [], questions: [], stops: [] };

const editor = acp
  .client({ name: "test" })
  .onRequest("session/request_permission", ({ params }) => {
    seen.permissions.push(params);
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onRequest("elicitation/create", ({ params }) => {
    seen.questions.push(params);
    return { action: "accept", content: { question_0: "blue" } };
  })
  .onNotification("session/update", ({ params }) => {
    seen.updates.push(params.update);
  });

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
await editor.connectWith(stream, async (context) => {
  const clientCapabilities = { elicitation: { form: {} } };
  seen.initialize = await context.request("initialize", { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
  const { sessionId } = await context.request("session/new", { cwd, mcpServers: [] });
  const say = async (text, id = sessionId) => {
    const answer = await context.request("session/prompt", { sessionId: id, prompt: [{ type: "text", text }] });
    seen.stops.push(answer.stopReason);
  };
  await say("make a file");
  await say("change it");
  await say("ask me");
  await say("plan it");
  const running = say("never end");
  while (!JSON.stringify(seen.updates).includes("It begins")) await new Promise((next) => setTimeout(next, 5));
  await context.notify("session/cancel", { sessionId });
  await running;
  const before = seen.updates.length;
  await context.request("session/load", { sessionId, cwd, mcpServers: [] });
  seen.loaded = seen.updates.slice(before);
  const forked = await context.request("session/fork", { sessionId, cwd });
  seen.forked = forked.sessionId !== sessionId;
  await say("and now?", forked.sessionId);
});
agent.stdin.end();
seen.exit = await exited;
console.log(JSON.stringify(seen));
process.exit(0);
