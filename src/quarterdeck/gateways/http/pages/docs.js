"use strict";
// The page to try the API on. It loads /openapi.json and nothing else; the token stays in this page's memory.

const $ = (id) => document.getElementById(id);
let token = "";
let stopStream = null;

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

async function login() {
  // The address bar brings a code that is good once, for a minute: it is exchanged at once and removed.
  const code = new URLSearchParams(location.hash.slice(1)).get("code");
  if (!code) return;
  history.replaceState(null, "", location.pathname);
  const answer = await fetch("v1/login", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  });
  const body = await answer.json();
  if (answer.ok) setToken(body.secret, body.name);
  else $("who").textContent = body.detail;
}

function setToken(secret, name = "") {
  token = secret;
  $("token").value = secret;
  $("who").textContent = name;
}

function headers(more = {}) {
  return token ? { authorization: `Bearer ${token}`, ...more } : more;
}

function show(path, method, operation, button) {
  document.querySelector("nav [aria-current]")?.removeAttribute("aria-current");
  button.setAttribute("aria-current", "true");
  if (stopStream) stopStream();
  const inputs = (operation.parameters ?? []).map((one) => [one, element("input", { value: shown(one) })]);
  const json = operation.requestBody?.content["application/json"];
  const body = json ? element("textarea", { spellcheck: "false" }) : null;
  if (body) body.value = JSON.stringify(json.example ?? {}, null, 2);
  const file = operation.requestBody && !json ? element("input", { type: "file" }) : null;
  const out = element("pre", { tabindex: "0" });
  const go = async () => {
    out.textContent = "…";
    try {
      await send(path, method, operation, inputs, body, file, out);
    } catch (error) {
      out.textContent = String(error);
    }
  };
  const stop = element("button", { type: "button", onclick: () => stopStream?.() }, "Stop");
  const refused = Object.keys(operation.responses).filter((status) => status >= "400").join(", ");
  $("operation").replaceChildren(
    element("h2", {}, element("span", { class: "method" }, method.toUpperCase()), element("span", { class: "path" }, path)),
    element("p", {}, operation.summary ?? ""),
    element("p", {}, operation.description ?? ""),
    ...inputs.map(([one, input]) =>
      element("label", {}, `${one.name}${one.required ? " *" : ""} `, element("small", {}, one.in), input)),
    ...(body ? [element("label", {}, "body", body)] : []),
    ...(file ? [element("label", {}, "file", file)] : []),
    element("div", { class: "actions" }, element("button", { type: "button", onclick: go }, "Send"), stop),
    out,
    element("p", { class: "errors" }, `May be refused with ${refused}.`),
  );
}

function shown(parameter) {
  if (parameter.in === "path") return "";
  return parameter.required ? String(parameter.example ?? "") : "";
}

async function send(path, method, operation, inputs, body, file, out) {
  const query = new URLSearchParams();
  const more = {};
  let url = path;
  for (const [one, input] of inputs) {
    if (one.in === "path") url = url.replace(`{${one.name}}`, encodeURIComponent(input.value));
    else if (input.value !== "" && one.in === "query") query.set(one.name, input.value);
    else if (input.value !== "") more[one.name] = input.value;
  }
  if ([...query].length) url += `?${query}`;
  const request = { method: method.toUpperCase(), headers: headers(more) };
  if (body) {
    request.body = body.value;
    request.headers["content-type"] = "application/json";
  } else if (file) {
    request.body = file.files[0];
    request.headers["content-type"] = file.files[0]?.type || "application/octet-stream";
  }
  const leaving = new AbortController();
  request.signal = leaving.signal;
  stopStream = () => leaving.abort();
  const answer = await fetch(url.slice(1), request);
  const kind = answer.headers.get("content-type") ?? "";
  const head = `${answer.status} ${answer.statusText}\n\n`;
  if (kind.startsWith("text/event-stream")) await follow(answer, head, out);
  else if (kind.includes("json") && !kind.includes("ndjson")) {
    out.textContent = head + JSON.stringify(await answer.json(), null, 2);
  } else out.textContent = head + (await answer.text());
}

async function follow(answer, head, out) {
  out.textContent = head;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      out.append(value);
      out.scrollTop = out.scrollHeight;
    }
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
  out.append("\n(ended)");
}

async function start() {
  $("login").addEventListener("submit", (event) => event.preventDefault());
  $("token").addEventListener("input", (event) => { token = event.target.value.trim(); });
  const described = await (await fetch("openapi.json")).json();
  for (const { name } of described.tags) {
    $("index").append(element("h2", {}, name));
    for (const [path, methods] of Object.entries(described.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        if (!operation.tags.includes(name)) continue;
        const label = [element("span", { class: "method" }, method.toUpperCase()), operation.operationId];
        const button = element("button", { type: "button", title: path }, ...label);
        button.addEventListener("click", () => show(path, method, operation, button));
        $("index").append(button);
      }
    }
  }
  await login();
}

start();
