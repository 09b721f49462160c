/**
 * Frames → timeline: the same state as the host's own fold, from its events. `tests/page` compares the two on recordings.
 *
 * @typedef {import('./types.js').TimelineEvent} TimelineEvent
 * @typedef {import('./timeline.js').Timeline} Timeline
 * @typedef {(timeline: Timeline, event: TimelineEvent) => void} Fold
 */

import { NOTED } from './host_notes.js';
import { REQUESTS, saidSoFar, withDefaults } from './timeline.js';

const FINAL = new Set(['finished', 'failed', 'denied', 'interrupted']);

/** A row of the log. @param {Timeline} timeline @param {import('./types.js').Frame} frame */
export function foldFrame(timeline, frame) {
  for (const event of frame.events) FOLDS[event.type]?.(timeline, event);
}

/** What is being said. @param {Timeline} timeline @param {import('./types.js').Preview} preview */
export function foldPreview(timeline, preview) {
  for (const event of preview.events) PREVIEWS[event.type]?.(timeline, event);
}

/** @type {Record<string, Fold>} */
const SAID = {
  prompt_sent: (t, e) => {
    const { id, at, parent_id = null, attachments = [], source = 'us' } = e;
    t.put({ type: 'prompt', id, at, parent_id, text: { text: e.text }, attachments, source });
  },
  prompt_changed: (t, e) => t.change(e.id, { status: e.status }),
  block_started: (t, e) => t.put({ type: e.kind, id: e.id, at: e.at, parent_id: e.parent_id ?? null }),
  text_completed: (t, e) => {
    t.change(e.id, { text: { text: e.text }, pieces: [], done: true, error: e.error ?? null });
    t.change(e.id, { stopped: e.stopped ?? false, synthetic: e.synthetic ?? false });
  },
  thinking_completed: (t, e) => {
    t.change(e.id, { text: { text: e.text }, pieces: [], done: true, hidden: e.hidden ?? false });
    t.change(e.id, { duration_s: e.duration_s ?? null, stopped: e.stopped ?? false });
    t.thinking_tokens = 0;
  },
  retracted: (t, e) => {
    for (const id of e.ids) if (isSaid(t.items.get(id))) t.change(id, { retracted: true });
  },
};

/** @param {import('./types.js').Item | undefined} item */
const isSaid = (item) => item?.type === 'text' || item?.type === 'thinking';

/** @type {Record<string, Fold>} */
const TOOLS = {
  tool_started: (t, e) => {
    const { id, at, name, label, parent_id = null } = e;
    t.put({ type: 'tool_call', id, at, parent_id, name, label });
  },
  tool_called: (t, e) => {
    const { name, label, about, input, diffs = [], agent_type = null, run_by_api = false } = e;
    const known = { name, label, about, input, diffs, agent_type, run_by_api, input_pieces: [] };
    t.change(e.id, { ...known, status: 'running', called_at: e.at });
    joinRequest(t, e.id);
  },
  tool_progressed: (t, e) => t.change(e.id, { elapsed_s: e.elapsed_s, retrying: e.retry ?? null }),
  tool_output_added: (t, e) => {
    t.change(e.id, { live_output: e.output });
    const task = e.task_id && t.tasks.get(e.task_id);
    if (task) task.output = e.output;
  },
  tool_backgrounded: (t, e) => t.change(e.id, { status: 'background', output: e.output }),
  tool_ended: (t, e) => {
    if (!t.items.has(e.id)) t.put({ type: 'tool_call', id: e.id, at: e.at, parent_id: e.parent_id ?? null, name: e.name });
    const { status, output, images = 0, output_path = null, reason = null } = e;
    t.change(e.id, { status, output, output_images: images, output_path, reason, ended_at: e.at });
    t.change(e.id, { elapsed_s: e.elapsed_s ?? null, input_pieces: [] });
    if (e.diffs?.length) t.change(e.id, { diffs: e.diffs });
  },
  tools_summarised: (t, e) => {
    for (const id of e.tool_ids) if (t.call(id)) t.change(id, { summary: e.text });
    t.note(e, 'summary', e.text, { tool_ids: e.tool_ids });
  },
  plan_changed: (t, e) => {
    t.plans.set(e.parent_id ?? '', { source: e.source, entries: e.entries });
  },
};

/** What is asked about a call may come before the call. @param {Timeline} t @param {string} id */
function joinRequest(t, id) {
  for (const key of t.newest.toReversed()) {
    const item = t.items.get(key);
    if (!item || !REQUESTS.has(item.type) || item.tool_id !== id) continue;
    t.change(item.id, { parent_id: t.items.get(id)?.parent_id ?? null });
    t.change(id, { request_id: item.id });
    if (item.status === 'open') t.change(id, { status: 'waiting' });
    else if (item.type === 'permission' && item.allowed === false) t.change(id, { reason: item.note || 'denied' });
    return;
  }
}

/** @type {Fold} */
const asked = (t, e) => {
  t.put({ ...e.request });
  if (!t.waiting.includes(e.request.id)) t.waiting = [...t.waiting, e.request.id];
  if (t.call(e.request.tool_id)) t.change(e.request.tool_id, { status: 'waiting', request_id: e.request.id });
};

/** @type {Record<string, (e: TimelineEvent) => Record<string, any>>} */
const ANSWERS = {
  permission: (e) => ({
    allowed: e.answer === 'allow',
    note: e.note ?? null,
    interrupted: e.interrupts ?? false,
    input_changed: e.input_changed ?? false,
    rules_added: e.rules_added ?? [],
  }),
  questions: (e) => ({ declined: e.answer !== 'allow', note: e.note ?? null, answers: e.answers ?? {} }),
  plan_review: (e) => ({ approved: e.answer === 'allow', note: e.note ?? null, mode: e.mode ?? null }),
  elicitation: (e) => ({ action: e.answer }),
  dialog: (e) => ({ behavior: e.answer }),
};

/** @type {Record<string, Fold>} */
const ASKED = {
  permission_asked: asked,
  questions_asked: asked,
  plan_review_asked: asked,
  elicitation_asked: asked,
  dialog_asked: asked,
  request_answered: (t, e) => {
    t.waiting = t.waiting.filter((id) => id !== e.id);
    t.change(e.id, { status: 'answered', closed_at: e.at, ...ANSWERS[e.kind]?.(e) });
    const call = t.call(e.tool_id);
    if (!call) return;
    if (e.answer === 'deny' || e.answer === 'error') t.change(call.id, { reason: e.note || 'denied' });
    if (call.status === 'waiting') t.change(call.id, { status: 'running', called_at: e.at });
  },
  request_cancelled: (t, e) => {
    t.waiting = t.waiting.filter((id) => id !== e.id);
    t.change(e.id, { status: 'cancelled', closed_at: e.at });
  },
  elicitation_completed: (t, e) => t.change(e.id, { completed: true }),
};

/** @param {Timeline} t @param {TimelineEvent} e @param {Record<string, any>} changes */
function changeTask(t, e, changes) {
  const known = t.tasks.get(e.id) ?? { id: e.id, status: 'running', tool_id: e.tool_id ?? null, at: e.at };
  t.tasks.set(e.id, { ...known, ...changes });
  if (e.tool_id) t.touched.add(e.tool_id);
}

/** @type {Record<string, Fold>} */
const TASKS = {
  task_started: (t, e) => {
    const { description, kind = null, agent_type = null, background = false, parent_task_id = null, tool_id = null } = e;
    t.tasks.set(e.id, { id: e.id, status: 'running', at: e.at, tool_id, description, kind, agent_type, background, parent_task_id });
    const call = t.call(tool_id);
    if (!call) return;
    t.change(call.id, { task_id: e.id, agent_type: agent_type ?? call.agent_type });
    if (agent_type) t.change(call.id, { agent_id: e.id });
  },
  task_progressed: (t, e) => {
    const { doing, tokens = 0, tool_uses = 0, duration_s = 0, last_tool = null, summary = null } = e;
    changeTask(t, e, { doing, tokens, tool_uses, duration_s, last_tool, summary });
  },
  task_changed: (t, e) => changeTask(t, e, { status: e.status, background: e.background, description: e.description ?? '' }),
  task_ended: (t, e) => {
    const { status, description = '', error = null, background = false, tokens = 0, tool_uses = 0, duration_s = 0 } = e;
    changeTask(t, e, { status, description, error, background, tokens, tool_uses, duration_s, ended_at: e.at, doing: null });
  },
  task_notified: (t, e) =>
    changeTask(t, e, { status: e.status, summary: e.summary || null, output_path: e.output_path ?? null, told: true }),
  hook_started: (t, e) => {
    const { id, at, event, name = '', source = 'command', tool_id = null } = e;
    t.put({ type: 'hook', id, at, event, name, source, tool_id });
  },
  hook_progressed: (t, e) => t.change(e.id, { output: e.output }),
  hook_ended: (t, e) => t.change(e.id, { outcome: e.outcome, output: e.output ?? null, exit_code: e.exit_code ?? null }),
};

/** @type {Record<string, Fold>} */
const TURNS = {
  turn_started: (t, e) => {
    t.turn = e.number;
    t.turn_started_at = e.at;
    t.suggestion = null;
  },
  turn_ended: (t, e) => {
    t.put({ ...e.turn });
    t.turn = e.turn.number;
    t.turn_started_at = null;
    t.retry = null;
    t.context = e.context;
    t.total_usd = e.turn.total_usd ?? 0;
    t.thinking_tokens = 0;
    t.dropPreviews();
  },
  activity_changed: (t, e) => {
    t.activity = e.activity;
  },
  context_changed: (t, e) => {
    t.context = e.context;
  },
  compaction_ended: (t, e) => {
    const told = `${e.tokens_before || '?'} → ${e.tokens_after || '?'} tokens (${e.trigger || 'unknown'})`;
    t.note(e, 'compaction', e.error ?? told, e.error ? { level: 'error' } : {});
  },
  retry_scheduled: (t, e) => {
    t.retry = e;
  },
};

/** @type {Record<string, Fold>} */
const SESSION = {
  model_changed: (t, e) => {
    const before = t.items.get(t.newest.at(-1) ?? '');
    const told = before?.type === 'notice' && before.kind === 'refusal'; // a refusal has an event of its own
    if (e.reason && !told) t.note(e, 'model_fallback', e.reason, { level: 'warning' });
    t.session = { ...t.session, model: e.model };
  },
  mode_changed: (t, e) => {
    t.session = { ...t.session, permission_mode: e.mode };
  },
  mcp_changed: (t, e) => {
    t.session = { ...t.session, mcp_servers: Object.fromEntries(e.servers.map((/** @type {any} */ one) => [one.name, one])) };
  },
  conversation_reset: (t, e) => {
    t.plans.clear();
    t.note(e, 'reset', e.trigger ?? '');
  },
  files_persisted: (t, e) => {
    const failed = Object.keys(e.failed ?? {}).length;
    t.note(e, 'files_persisted', `${e.files.length} stored, ${failed} failed`, { details: { files: e.files, failed: e.failed ?? {} } });
  },
  files_rewound: (t, e) => {
    if (!e.dry_run) t.note(e, 'files_rewound', e.prompt_id, { details: { files: e.files ?? [] } });
  },
  prompt_suggested: (t, e) => {
    t.suggestion = e.text;
  },
  control_answered: (t, e) => {
    if (e.error) t.note(e, 'refused', `${e.subtype}: ${e.error}`, { level: 'error' });
  },
  notice_shown: (t, e) => {
    const { id, at, kind, text, level = 'info', parent_id = null, tool_ids = [], details = {} } = e;
    if (t.items.delete(id)) t.reordered = true; // a later one replaces it, at the end
    t.put({ type: 'notice', id, at, kind, text, level, parent_id, tool_ids, details });
  },
  unknown_seen: (t, e) => t.note(e, 'unknown', e.what, { details: { raw: e.raw?.text ?? '' } }),
  bad_line_seen: (t, e) => t.note(e, 'bad_line', e.reason, { level: 'warning', details: { head: e.head, size: e.size } }),
};

/** What the host itself tells, other than in lines of their own. @type {Record<string, Fold>} */
const HOST = {
  queue_changed: (t, e) => {
    t.queue = e.prompts;
  },
  policy_decided: (t, e) => t.change(e.tool_use_id, { policy: { decision: e.decision, reason: e.reason, rule: e.rule } }),
};

/** Events without an entry change nothing that the page draws. @type {Record<string, Fold>} */
const FOLDS = { ...SAID, ...TOOLS, ...ASKED, ...TASKS, ...TURNS, ...SESSION, ...NOTED, ...HOST };

/** @param {Timeline} t @param {string} id @param {Record<string, any>} item */
function begin(t, id, item) {
  if (t.items.has(id) && !(t.call(id) && FINAL.has(t.call(id)?.status))) return;
  t.previews.set(id, withDefaults({ id, pieces: [], ...item }));
  t.reordered = true;
}

/** @param {string} kind @returns {Fold} */
const piece = (kind) => (t, e) => {
  if (t.items.get(e.id)?.done) return;
  if (!t.previews.has(e.id)) begin(t, e.id, { type: kind, at: e.at, joined_late: true });
  t.previews.get(e.id)?.pieces.push(e.text);
  t.touched.add(e.id);
};

/** What travels beside the log, live only. @type {Record<string, Fold>} */
const PREVIEWS = {
  block_started: (t, e) => begin(t, e.id, { type: e.kind, at: e.at, parent_id: e.parent_id ?? null }),
  text_added: piece('text'),
  thinking_added: piece('thinking'),
  thinking_counted: (t, e) => {
    t.thinking_tokens = e.tokens;
  },
  tool_started: (t, e) => {
    begin(t, e.id, { type: 'tool_call', at: e.at, name: e.name, label: e.label, parent_id: e.parent_id ?? null });
  },
  tool_input_added: (t, e) => {
    t.previews.get(e.id)?.pieces.push(e.json);
    t.touched.add(e.id);
  },
  retracted: (t, e) => {
    for (const id of e.ids) if (t.previews.delete(id)) t.reordered = true;
  },
  activity_changed: TURNS.activity_changed,
  context_changed: TURNS.context_changed,
};

export { saidSoFar };
