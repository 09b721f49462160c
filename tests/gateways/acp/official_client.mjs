// Drives an agent with the official ACP library: a prompt with a permission, a cancel, a load. Prints what came, as JSON.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [sdk, cwd, command, ...args] = process.argv.slice(2);
const acp = await import(pathToFileURL(`${sdk}/dist/v1/stable/acp.js`).href);
const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((done) => agent.on("exit", done));
const seen = { updates: [], permissions: [] };

const editor = acp
  .client({ name: "test" })
  .onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    seen.permissions.push(params);
    return { outcome: { outcome: "selected", optionId: params.options[0].optionId } };
  })
  .onNotification(acp.methods.client.session.update, ({ params }) => {
    seen.updates.push(params.update);
  });

const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));
await editor.connectWith(stream, async (context) => {
  const { initialize, session } = acp.methods.agent;
  seen.initialize = await context.request(initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
  const { sessionId } = await context.request(session.new, { cwd, mcpServers: [] });
  const say = (text) => context.request(session.prompt, { sessionId, prompt: [{ type: "text", text }] });
  seen.first = await say("make a file");
  const running = say("never end");
  while (!JSON.stringify(seen.updates).includes("It begins")) await new Promise((next) => setImmediate(next));
  await context.notify(session.cancel, { sessionId });
  seen.second = await running;
  const before = seen.updates.length;
  await context.request(session.load, { sessionId, cwd, mcpServers: [] });
  seen.loaded = seen.updates.slice(before);
});
agent.stdin.end();
seen.exit = await exited;
console.log(JSON.stringify(seen));
process.exit(0);
