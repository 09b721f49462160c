// Folds frames as the page does. Lines in: {frames, snapshot?}; lines out: what the page would draw.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const app = pathToFileURL(`${process.argv[2]}/`);
const { foldFrame } = await import(new URL('store/fold.js', app));
const { Timeline } = await import(new URL('store/timeline.js', app));

for await (const line of createInterface({ input: process.stdin })) {
  const { frames, snapshot } = JSON.parse(line);
  const timeline = snapshot ? Timeline.fromSnapshot(snapshot) : new Timeline();
  for (const frame of frames) foldFrame(timeline, frame);
  const { waiting, context, activity, turn, turn_started_at, total_usd, suggestion } = timeline;
  const items = [...timeline.items.values()];
  const plans = Object.fromEntries(timeline.plans);
  const tasks = Object.fromEntries(timeline.tasks);
  const session = { model: timeline.session.model, permission_mode: timeline.session.permission_mode };
  process.stdout.write(`${JSON.stringify({ items, plans, tasks, waiting, context, activity, turn, turn_started_at, total_usd, suggestion, session })}\n`);
}
