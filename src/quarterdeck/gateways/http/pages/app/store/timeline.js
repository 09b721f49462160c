/**
 * The state of one conversation: what a person follows. It begins as the host's snapshot (or empty) and goes on with frames.
 *
 * Items are changed in place and named in `touched`; whoever draws takes the names, once per picture.
 *
 * @typedef {import('./types.js').Item} Item
 * @typedef {import('./types.js').Task} Task
 */

/** Fields that the host leaves out when they have their default. @type {Record<string, Record<string, any>>} */
const DEFAULTS = {
  prompt: { status: 'sent', source: 'us' },
  text: { done: false },
  thinking: { done: false },
  tool_call: { status: 'writing' },
  permission: { status: 'open' },
  questions: { status: 'open' },
  plan_review: { status: 'open' },
  elicitation: { status: 'open' },
  dialog: { status: 'open' },
  hook: { source: 'command' },
  notice: { level: 'info' },
};

export const REQUESTS = new Set(['permission', 'questions', 'plan_review', 'elicitation', 'dialog']);

const NEWEST = 20;

export class Timeline {
  constructor() {
    /** @type {Map<string, Item>} By id, in the order in which they started. */
    this.items = new Map();
    /** @type {Map<string, Item>} What is being said at this moment; the finished item of the same id replaces it. */
    this.previews = new Map();
    /** @type {Map<string, Task>} */
    this.tasks = new Map();
    /** @type {Map<string, {source: string, entries: import('./types.js').PlanEntry[]}>} By sub-agent; the main one's is ''. */
    this.plans = new Map();
    /** @type {string[]} */
    this.waiting = [];
    /** @type {import('./types.js').Context} */
    this.context = {};
    /** @type {import('./types.js').Prompt[]} Prompts that wait. */
    this.queue = [];
    /** @type {Record<string, any>} */
    this.session = {};
    this.activity = 'idle';
    this.turn = 0;
    /** @type {number | null} */
    this.turn_started_at = null;
    this.total_usd = 0;
    this.thinking_tokens = 0;
    this.dropped_items = 0;
    /** @type {string | null} */
    this.suggestion = null;
    /** @type {Record<string, any> | null} */
    this.retry = null;
    this.counter = 0;
    /** @type {string[]} Ids of the newest items: what is asked about a call may come before the call. */
    this.newest = [];
    /** @type {Set<string>} Items that have changed since somebody looked. */
    this.touched = new Set();
    /** Whether items came or went since somebody looked. */
    this.reordered = true;
  }

  /** @param {Record<string, any>} state As `get_timeline` gives it. */
  static fromSnapshot(state) {
    const timeline = new Timeline();
    for (const [id, item] of Object.entries(state.items ?? {})) timeline.items.set(id, withDefaults(item));
    for (const [id, task] of Object.entries(state.tasks ?? {})) timeline.tasks.set(id, { status: 'running', ...task });
    for (const [id, plan] of Object.entries(state.plans ?? {})) timeline.plans.set(id, plan);
    timeline.newest = [...timeline.items.keys()].slice(-NEWEST);
    timeline.waiting = [...(state.waiting ?? [])];
    timeline.context = state.context ?? {};
    timeline.session = state.session ?? {};
    timeline.activity = state.activity ?? 'idle';
    timeline.turn = state.turn ?? 0;
    timeline.turn_started_at = state.turn_started_at ?? null;
    timeline.total_usd = state.cost?.total_usd ?? 0;
    timeline.dropped_items = state.dropped_items ?? 0;
    timeline.suggestion = state.suggestion ?? null;
    timeline.retry = state.retry ?? null;
    return timeline;
  }

  /** @param {Item} item */
  put(item) {
    if (!this.items.has(item.id)) {
      this.reordered = true;
      this.newest = [...this.newest.slice(-(NEWEST - 1)), item.id];
    }
    this.items.set(item.id, withDefaults(item));
    if (this.previews.delete(item.id)) this.reordered = true;
    this.touched.add(item.id);
  }

  /** Change an item that there is. @param {string | null | undefined} id @param {Record<string, any>} changes */
  change(id, changes) {
    const item = id ? this.items.get(id) : undefined;
    if (item === undefined) return;
    Object.assign(item, changes);
    this.touched.add(item.id);
  }

  /** @param {string | null | undefined} id @returns {Item | undefined} */
  call(id) {
    const item = id ? this.items.get(id) : undefined;
    return item?.type === 'tool_call' ? item : undefined;
  }

  /** The same under another identity: a component is drawn again only if what it is given is another object. */
  seen() {
    return Object.assign(new Timeline(), this);
  }

  /** A line of the page's own making, for an event that is not an item. @type {(event: import('./types.js').TimelineEvent, kind: string, text: string, more?: object) => void} */
  note(event, kind, text, more = {}) {
    this.put({ type: 'notice', id: this.newId(kind), at: event.at, kind, text, ...more });
  }

  /** What was being said is not going on, or the log has it by now. */
  dropPreviews() {
    if (this.previews.size) this.reordered = true;
    this.previews.clear();
  }

  /** An id for what has none. @param {string} word */
  newId(word) {
    this.counter += 1;
    return `${word}/${this.counter}`;
  }
}

/** @param {Record<string, any>} item @returns {Item} */
export function withDefaults(item) {
  return /** @type {Item} */ ({ at: 0, parent_id: null, ...DEFAULTS[item.type], ...item });
}

/** A text, or its two ends and how much is missing. @param {import('./types.js').Kept | null | undefined} kept */
export function textOf(kept) {
  if (!kept) return '';
  if (!kept.left_out) return kept.text ?? '';
  return `${kept.text ?? ''}\n… ${kept.left_out.toLocaleString('en')} characters left out …\n${kept.tail ?? ''}`;
}

/** Everything of a block so far. @param {Item} item */
export function saidSoFar(item) {
  return textOf(item.text) + (item.pieces ?? []).join('');
}
