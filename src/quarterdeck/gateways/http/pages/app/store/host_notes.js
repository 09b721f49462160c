/**
 * What the host itself tells about a session, each as a line of its own: its process, budget, transcript, and events from
 * outside. The host's own fold and its snapshot do not have them.
 *
 * @typedef {import('./types.js').TimelineEvent} TimelineEvent
 * @typedef {(timeline: Timeline, event: TimelineEvent) => void} Fold
 */

import { Timeline } from './timeline.js';

/** What each state of a budget means. @type {Record<string, string>} */
const BUDGETS = { near: 'nearly used up', reached: 'used up: no further prompt is sent', interrupted: 'used up: the turn was stopped' };

/** @param {string} amount */
const usd = (amount) => `$${Number(amount).toFixed(Number(amount) < 0.1 ? 4 : 2)}`;

/** @type {Record<string, Fold>} */
export const NOTED = {
  process_changed: (t, e) => {
    if (e.state !== 'exited' && e.state !== 'lost') return;
    t.dropPreviews();
    const how = e.state === 'lost' ? 'was lost' : e.signal ? `was terminated by signal ${e.signal}` : `exited with code ${e.exit_code}`;
    if (e.state === 'lost' || e.exit_code || e.stderr) {
      t.note(e, 'process', `Claude Code ${how}.${e.stderr ? `\n${e.stderr}` : ''}`, { level: 'error', by_host: true });
    }
  },
  hang_noticed: (t, e) =>
    t.note(e, 'hang', `No output for ${Math.round(e.silent_s)} s: ${e.action}.`, { level: 'warning', by_host: true }),
  budget_changed: (t, e) => {
    if (!Object.hasOwn(BUDGETS, e.state)) return;
    const whose = e.scope === 'host' ? "The host's" : "The session's";
    const text = `${whose} budget of ${usd(e.budget_usd)} is ${BUDGETS[e.state]} (${usd(e.spent_usd)} spent).`;
    t.note(e, 'budget', text, { level: 'warning', by_host: true });
  },
  transcript_noticed: (t, e) => {
    const added = `${e.records} ${e.records === 1 ? 'record' : 'records'}`;
    const continued = `The conversation was continued elsewhere, e.g. in a terminal: ${added} that only Claude Code has, not this page.`;
    t.note(e, 'transcript', e.what === 'restored' ? "Claude Code's transcript was gone. The host put its copy back." : continued, { level: 'warning', by_host: true });
  },
  custom_event: (t, e) =>
    t.note(e, 'custom', `${e.name} from ${e.by || 'outside'}`, { details: { data: e.data ?? {} }, by_host: true }),
};

/**
 * What the host told in these frames, which its snapshot leaves out: in its place among the items, by time.
 * @param {Timeline} timeline @param {import('./types.js').Frame[]} frames
 */
export function addHostNotes(timeline, frames) {
  const notes = new Timeline();
  for (const { events } of frames) for (const event of events) if (Object.hasOwn(NOTED, event.type)) NOTED[event.type](notes, event);
  const items = [...timeline.items.values()];
  for (const one of notes.items.values()) {
    const after = items.findIndex((item) => item.at > one.at);
    items.splice(after < 0 ? items.length : after, 0, { ...one, id: timeline.newId(one.kind) });
  }
  timeline.items = new Map(items.map((item) => [item.id, item]));
  timeline.reordered = true;
}
