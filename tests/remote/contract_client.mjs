// A client that knows of a host only what its openapi.json says: node contract_client.mjs URL TOKEN CWD WS_PACKAGE
// It prints what it did as JSON. An answer that the document does not describe ends it with an error.
import { createRequire } from "node:module";

const [, , url, token, cwd, packages] = process.argv;
const WebSocket = createRequire(`${packages}/`)("ws");
const document = await (await fetch(`${url}/openapi.json`)).json();

// Schemas

function resolved(schema) {
  let found = schema;
  while (found.$ref) found = found.$ref.slice(2).split("/").reduce((place, name) => place[name], document);
  return found;
}

const TYPES = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
  array: Array.isArray,
  object: (value) => value !== null && typeof value === "object" && !Array.isArray(value),
};

// Why a value does not fit; nothing if it does.
function misfit(value, given, place = "$") {
  const schema = resolved(given);
  const known = schema.discriminator?.mapping[value?.[schema.discriminator.propertyName]];
  if (schema.discriminator) return known ? misfit(value, { $ref: known }, place) : `${place} is none of its forms`;
  if (schema.anyOf?.every((one) => misfit(value, one, place))) return `${place} fits none of its forms`;
  if (schema.oneOf && schema.oneOf.filter((one) => !misfit(value, one, place)).length !== 1) return `${place} does not fit one form`;
  const unfit = schema.allOf?.map((one) => misfit(value, one, place)).find(Boolean);
  if (unfit) return unfit;
  if (schema.const !== undefined && value !== schema.const) return `${place} is not ${schema.const}`;
  if (schema.enum && !schema.enum.includes(value)) return `${place} is ${value}, not one of ${schema.enum}`;
  const types = [schema.type ?? []].flat();
  if (types.length && !types.some((type) => TYPES[type](value))) return `${place} is no ${types}`;
  if (Array.isArray(value) && value.length < schema.minItems) return `${place} has too few items`;
  if (Array.isArray(value)) return value.map((one, at) => misfit(one, schema.items ?? {}, `${place}[${at}]`)).find(Boolean);
  if (!TYPES.object(value)) return undefined;
  const missing = (schema.required ?? []).find((name) => !(name in value));
  if (missing) return `${place} has no ${missing}`;
  for (const [name, one] of Object.entries(value)) {
    const property = schema.properties?.[name];
    if (!property && schema.additionalProperties === false) return `${place} has ${name}, which is not described`;
    const other = TYPES.object(schema.additionalProperties) ? schema.additionalProperties : {};
    const why = misfit(one, property ?? other, `${place}.${name}`);
    if (why) return why;
  }
  return undefined;
}

function expect(value, schema, name) {
  const why = schema ? misfit(value, schema) : "it is not described";
  if (why) throw new Error(`${name}: ${why} in ${JSON.stringify(value)}`);
}

// Operations

const operations = {};
for (const [path, methods] of Object.entries(document.paths))
  for (const [method, operation] of Object.entries(methods)) {
    operations[operation.operationId] ??= { path, method: method.toUpperCase(), ...operation };
  }
const checked = new Set();
const statuses = {}; // the lowest of each operation: what succeeded once, succeeded

async function send(name, fields = {}, headers = {}) {
  const operation = operations[name];
  if (!operation) throw new Error(`the document has no operation ${name}`);
  const rest = { ...fields };
  const query = new URLSearchParams();
  let path = operation.path;
  for (const parameter of operation.parameters ?? []) {
    if (!(parameter.name in rest)) continue;
    const value = rest[parameter.name];
    delete rest[parameter.name];
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(value));
    if (parameter.in === "query") query.set(parameter.name, value);
  }
  const json = operation.requestBody?.content["application/json"];
  const body = json ? JSON.stringify(rest) : operation.requestBody ? rest.body : undefined;
  const kind = json ? "application/json" : (rest.media_type ?? "application/octet-stream");
  const shown = query.size ? `${path}?${query}` : path;
  return fetch(url + shown, {
    method: operation.method,
    headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { "content-type": kind }), ...headers },
    body,
  });
}

async function call(name, fields, headers) {
  const answer = await send(name, fields, headers);
  statuses[name] = Math.min(statuses[name] ?? 999, answer.status);
  const described = operations[name].responses[answer.status];
  if (!described) throw new Error(`${name} answered ${answer.status}, which the document does not have`);
  const kind = answer.headers.get("content-type").split(";")[0];
  const [, content] = Object.entries(resolved(described).content ?? {}).find(([one]) => one.split(";")[0] === kind) ?? [];
  if (!content) throw new Error(`${name} answered ${kind}, which the document does not have`);
  if (!/[/+]json$/.test(kind)) return { status: answer.status, headers: answer.headers, text: await answer.text() };
  const value = await answer.json();
  expect(value, content.schema, name);
  checked.add(name);
  return { name, fields, status: answer.status, headers: answer.headers, value };
}

// What an answer leads to, by the document's links: which part of it is which parameter of another operation.

function part(answer, expression) {
  if (expression.startsWith("$request.path.")) return answer.fields[expression.slice("$request.path.".length)];
  const pointer = expression.slice("$response.body#/".length).split("/");
  return pointer.reduce((value, key) => value?.[key], answer.value);
}

function follow(answer, name, fields = {}) {
  const link = resolved(operations[answer.name].responses[answer.status].links[name]);
  const given = Object.entries(link.parameters).map(([parameter, expression]) => [parameter, part(answer, expression)]);
  return call(link.operationId, { ...Object.fromEntries(given), ...fields });
}

async function* events(name, fields, headers) {
  const answer = await send(name, fields, { accept: "text/event-stream", ...headers });
  if (answer.status !== 200) throw new Error(`${name} answered ${answer.status}`);
  const described = operations[name].responses[200].content["text/event-stream"]["x-events"];
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of answer.body) {
    text += decoder.decode(part, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n").map((line) => [line.slice(0, line.indexOf(": ")), line.slice(line.indexOf(": ") + 2)]);
      const event = Object.fromEntries(lines);
      if (!event.data) continue;
      const data = JSON.parse(event.data);
      expect(data, described[event.event], `${name}: ${event.event}`);
      yield { id: event.id, kind: event.event, data };
    }
  }
}

async function first(stream, wanted) {
  for await (const event of stream) if (wanted(event)) return event;
  throw new Error("the stream ended");
}

// A conversation: a prompt, a permission, the log from the middle, and the same over the WebSocket.

const key = { "idempotency-key": `contract-${Date.now()}` };
const wanted = { cwd, prompt: "go", options: { enable_file_checkpointing: true } };
const made = await call("create_session", wanted, key);
const again = await call("create_session", wanted, key);
const session_id = made.value.id;
const asked = await first(events("watch_approvals"), ({ kind }) => kind === "approval");
const queued = await call("send_prompt", { session_id, content: "not needed", priority: "later" });
await call("update_prompt", { session_id, prompt_id: queued.value.prompt_id, position: 0 });
await call("withdraw_prompt", { session_id, prompt_id: queued.value.prompt_id });
const remember = { rule: "Bash(touch made.txt)", scope: "project" };
const decided = await call("decide", { approval_id: asked.data.id, decision: "allow", remember });
const late = await call("decide", { approval_id: asked.data.id, decision: "deny" });
await call("wait", { session_id, timeout_s: 60 });

const seqs = [];
let cursor;
for await (const event of events("watch_session", { session_id, previews: false })) {
  if (event.kind !== "frame") continue;
  seqs.push(event.data.seq);
  cursor = event.id;
  if (seqs.length === 5) break;
}
const last = (await call("get_session", { session_id })).value.seq;
for await (const event of events("watch_session", { session_id, previews: false }, { "last-event-id": cursor })) {
  if (event.kind === "frame") seqs.push(event.data.seq);
  if (seqs.at(-1) >= last) break;
}

const reads = Object.entries(operations).filter(([, { method, parameters = [], responses }]) => {
  const needed = parameters.filter(({ required, name }) => required && name !== "session_id");
  const streams = responses[200]?.content?.["text/event-stream"];
  return method === "GET" && !needed.length && !streams && responses[200];
});
for (const [name] of reads) if (name !== "connect_websocket") await call(name, { session_id, timeout_s: 1 });

const followed = {};
for (const name of Object.keys(operations.create_session.responses[201].links))
  if (reads.some(([one]) => one === name)) followed[name] = (await follow(made, name, { timeout_s: 1 })).status;
const renamed = await follow(made, "update_session", { name: "renamed" });
const later = await follow(made, "send_prompt", { content: "later", priority: "later" });
await follow(made, "wait", { timeout_s: 60 });
const phone = await call("create_token", { name: "phone", scope: "read" });
const revoked = await follow(phone, "revoke_token");
const branch = await follow(made, "fork", { name: "branch" });
const forgotten = await follow(branch, "delete_session");

const { path: place, "x-websocket": messages } = operations.connect_websocket;
const offered = messages.subprotocols.map((one) => one.replace("{token}", token));
const socket = new WebSocket(`${url.replace("http", "ws")}${place}`, offered);
const frames = [];
const ops = new Set();

function say(message) {
  expect(message, messages.client, "a message of the client");
  socket.send(JSON.stringify(message));
}

const answers = {};
await new Promise((done, failed) => {
  socket.on("error", failed);
  socket.on("open", () => {
    say({ op: "subscribe", ref: "log", session: session_id });
    say({ op: "subscribe", ref: 2, session: "*", after: 0 });
    say({ op: "watch_approvals", ref: "approvals" });
    say({ op: "send_prompt", ref: "said", session_id, content: "again" });
    say({ op: "get_session", ref: "wrong", session_id: "none" });
  });
  socket.on("message", (text) => {
    const all = JSON.parse(text);
    try {
      expect(all, messages.server, "what the WebSocket says");
    } catch (error) {
      return failed(error);
    }
    for (const told of all) {
      ops.add(told.op);
      if (told.op === "frame") frames.push(told);
      if (told.op === "ok" || told.op === "error") answers[told.ref] = told;
      const idle = told.events?.some(({ type, state }) => type === "status_change" && state === "idle");
      if (answers.said?.result && told.seq > answers.said.result.seq && idle) done();
    }
  });
});
socket.close();

// Every other write, with the document's own example where nothing better is known.

const worktree = await call("create_worktree", { cwd, name: "contract" });
await call("delete_worktree", { path: worktree.value.path });
const [grant] = (await call("list_grants", {})).value.grants;
await call("revoke_grant", { grant_id: grant.id });
await call("upload", { session_id, name: "note.txt", media_type: "text/plain", body: "a note" });
const exported = await call("export_session", { session_id, format: "ndjson" });
const imported = await call("import_session", { name: "imported", body: exported.text });
await call("delete_session", { session_id: imported.value.session.id });
await call("rewind", { session_id, to: later.value.prompt_id, dry_run: true });
await call("compact", { session_id });
await call("wait", { session_id, timeout_s: 60 });

function example(name) {
  const { parameters = [], requestBody } = operations[name];
  const given = structuredClone(requestBody?.content["application/json"]?.example ?? {});
  if ("cwd" in given) given.cwd = cwd;
  for (const { name: field, required, example: value } of parameters)
    if (required) given[field] ??= field === "session_id" ? session_id : value;
  return given;
}

const writes = Object.keys(operations).filter((name) => operations[name].method !== "GET" && name !== "login");
await call("set_mcp_servers", example("set_mcp_servers"));
for (const name of ["disable_mcp_server", "enable_mcp_server", "reconnect_mcp_server"])
  await call(name, { session_id, server: "docs" });
const left = writes.filter((name) => !(name in statuses) && !["stop", "resume"].includes(name));
for (const name of left) await call(name, example(name));

const stopped = await call("stop", { session_id });
await call("resume", { session_id });
await call("stop", { session_id });
const none = await call("get_session", { session_id: "none" });

console.log(
  JSON.stringify({
    repeated: [made.status, again.headers.get("idempotency-replayed"), again.value.id === session_id],
    decided: [decided.status, late.status, late.value.code],
    seqs,
    last,
    websocket: frames.map(({ seq }) => seq),
    ops: [...ops].sort(),
    errors: [answers.wrong.code, none.status, none.value.code],
    stopped: stopped.status,
    followed,
    written: [renamed.value.name, later.status, Boolean(revoked.value.revoked_at), branch.status, forgotten.status],
    checked: [...checked].sort(),
    writes: Object.fromEntries(writes.map((name) => [name, statuses[name]])),
  }),
);
process.exit(0);
