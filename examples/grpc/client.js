// The same conversation from node, with the messages read from proto/quarterdeck/v1.
//
//   npm install @grpc/grpc-js @grpc/proto-loader
//   QUARTERDECK_TOKEN=… node client.js 127.0.0.1:8788 FOLDER "Which tests fail?"

const { randomUUID } = require("node:crypto");
const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const proto = path.join(__dirname, "..", "..", "proto");
const options = { includeDirs: [proto], keepCase: true, longs: String, enums: String, defaults: true, oneofs: true };
const definition = loader.loadSync("quarterdeck/v1/session_service.proto", options);
const { SessionService } = grpc.loadPackageDefinition(definition).quarterdeck.v1;

const [address, folder, prompt] = process.argv.slice(2);
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${process.env.QUARTERDECK_TOKEN}`);
const client = new SessionService(address, grpc.credentials.createInsecure());
const conversation = client.Converse(metadata);

function allow(id) {
  conversation.write({ ref: id, decide: { approval_id: id, decision: { decision: "DECISION_DECISION_ALLOW" } } });
}

function follow(event) {
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
      allow(approval.id);
      break;
    }
    case "usage_report":
      console.log(`cost $${event.usage_report.cost_usd}`);
      break;
    case "turn_ended":
      conversation.end(); // nothing more to say: it ends when the session is idle
      break;
  }
}

conversation.on("data", (response) => {
  for (const event of response.events?.events ?? []) follow(event);
  if (response.answer?.error) console.error(`refused: ${response.answer.error.message}`);
});
conversation.on("error", (error) => {
  console.error(`${grpc.status[error.code]}: ${error.details}`);
  process.exitCode = 1;
});
conversation.on("end", () => client.close());

const create = { cwd: folder, prompt: { text: prompt } };
conversation.write({ ref: "open", idempotency_key: randomUUID(), open: { create } });
