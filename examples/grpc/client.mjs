// The same conversation from node, with the messages read from proto/quarterdeck/v1.
//
//   npm install @grpc/grpc-js @grpc/proto-loader
//   QUARTERDECK_TOKEN=… node client.mjs 127.0.0.1:8788 FOLDER "Which tests fail?"

import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(process.env.NODE_MODULES ? `${process.env.NODE_MODULES}/` : import.meta.url);
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const proto = fileURLToPath(new URL("../../proto", import.meta.url));
const options = { includeDirs: [proto], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
const definition = loader.loadSync("quarterdeck/v1/session_service.proto", options);
const { SessionService } = grpc.loadPackageDefinition(definition).quarterdeck.v1;

const [address, folder, prompt] = process.argv.slice(2);
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${process.env.QUARTERDECK_TOKEN}`);
const client = new SessionService(address, grpc.credentials.createInsecure());
const conversation = client.Converse(metadata);

function show(event) {
  switch (event.event) {
    case "text_delta":
      process.stdout.write(event.text_delta.text);
      break;
    case "text_completed":
      process.stdout.write("\n");
      break;
    case "approval_changed": {
      const { approval } = event.approval_changed;
      if (approval.state !== "APPROVAL_STATE_PENDING") break;
      console.log(`allowing ${approval.tool}: ${approval.summary}`);
      const decision = { decision: "DECISION_DECISION_ALLOW" };
      conversation.write({ ref: approval.id, decide: { approval_id: approval.id, decision } });
      break;
    }
    case "usage_report":
      console.log(`cost $${event.usage_report.cost_usd}`);
      break;
    case "turn_ended":
      conversation.end(); // nothing more to say: the conversation ends when the session is idle
      break;
  }
}

conversation.on("data", (response) => {
  for (const event of response.events?.events ?? []) show(event);
  if (response.answer?.error) console.error(`refused: ${response.answer.error.message}`);
});
conversation.on("error", (error) => {
  console.error(`${grpc.status[error.code]}: ${error.details}`);
  process.exitCode = 1;
});
conversation.on("end", () => client.close());
conversation.write({ ref: "open", idempotency_key: randomUUID(), open: { create: { cwd: folder, prompt: { text: prompt } } } });
