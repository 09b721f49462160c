// Watches a session and decides what it asks, as fast as it can. Prints each event that is no preview as a line of JSON,
// and what came of its decision; ends with the turn.

const path = require("node:path");
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const proto = path.join(__dirname, "..", "..", "..", "proto");
const options = { includeDirs: [proto], keepCase: true, longs: Number, enums: String, bytes: String, oneofs: true };
const files = ["quarterdeck/v1/session_service.proto", "quarterdeck/v1/approval_service.proto"];
const { SessionService, ApprovalService } = grpc.loadPackageDefinition(loader.loadSync(files, options)).quarterdeck.v1;

const [address, session] = process.argv.slice(2);
const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${process.env.QUARTERDECK_TOKEN}`);
const credentials = grpc.credentials.createInsecure();
const sessions = new SessionService(address, credentials);
const approvals = new ApprovalService(address, credentials);
const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

let asked = false, idle = false, decided = false;
const watching = sessions.WatchSession({ session_id: session }, metadata);

function leave() {
  if (idle && decided) watching.cancel();
}

function decide(approval) {
  asked = true;
  const decision = { decision: "DECISION_DECISION_ALLOW" };
  approvals.Decide({ approval_id: approval.id, decision }, metadata, (error, answer) => {
    say({ won: !error, code: error?.code, by: answer?.approval.decided_by?.name });
    decided = true;
    leave();
  });
}

watching.on("data", (response) => {
  if (response.hello) say({ hello: response.hello.session_id });
  for (const event of response.events ?? []) {
    if (event.preview) continue;
    say({ event });
    if (event.approval_changed?.approval.state === "APPROVAL_STATE_PENDING") decide(event.approval_changed.approval);
    if (event.status_change?.state === "SESSION_STATE_IDLE" && asked) idle = true;
  }
  leave();
});
watching.on("error", () => {
  sessions.close();
  approvals.close();
});
