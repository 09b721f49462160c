/**
 * One open session: the host's snapshot, then every frame after it, each exactly once, and previews of what is being said.
 *
 * After a break the stream goes on behind the last frame. Where the host cannot do that it says so (`gap`), and the
 * session is drawn anew from a snapshot.
 */

import { signal } from '../lib.js';
import { foldFrame, foldPreview } from './fold.js';
import { addHostNotes } from './host_notes.js';
import { onNextPicture } from './host.js';
import { Timeline } from './timeline.js';

/**
 * @typedef {import('./types.js').Item} Item
 * @typedef {import('../net/connection.js').Connection} Connection
 * @typedef {{items: Item[], children: Map<string, Item[]>, timeline: Timeline}} Picture
 */

const PAGE = 1_000;

export class SessionStore {
  /** @param {Connection} connection @param {string} id */
  constructor(connection, id) {
    this.connection = connection;
    this.id = id;
    this.timeline = new Timeline();
    this.epoch = '';
    this.seq = 0;
    /** What is drawn: a new one for each picture, made of new objects only where something has changed. */
    this.picture = signal(/** @type {Picture} */ ({ items: [], children: new Map(), timeline: this.timeline }));
    /** 'loading', 'live', or why there is nothing to see. */
    this.state = signal('loading');
    /** Earlier items are in the log, not here. */
    this.hasEarlier = signal(false);
    this.loadingEarlier = signal(0);
    this.drawing = false;
    this.streams = 0;
    /** @type {Map<string, Item>} Copies that are on the screen. */
    this.drawn = new Map();
    /** @type {Map<string, {list: Item[], index: number}>} */
    this.places = new Map();
    /** @type {() => void} */
    this.leave = () => {};
    this.closed = false;
  }

  async open() {
    try {
      await this.fetch();
    } catch (error) {
      this.state.value = error instanceof Error ? error.message : String(error);
      return;
    }
    if (!this.closed) this.follow();
  }

  /** Each stream has a name of its own: what is still on its way of the one before is not taken for this one's. */
  follow() {
    this.streams += 1;
    this.leave = this.connection.subscribe(`session ${this.id} ${this.streams}`, {
      request: () => ({ session: this.id, after: `${this.epoch}-${this.seq}` }),
      receive: (message) => this.receive(message),
    });
  }

  close() {
    this.closed = true;
    this.leave();
  }

  /** Everything so far. */
  async fetch() {
    const view = await this.connection.call('get_timeline', { session_id: this.id });
    this.start(Timeline.fromSnapshot(view.state), view.epoch, view.seq);
    // The conversation can be read without either: what is the matter with the session is told where it is opened.
    this.fetchQueue().catch(() => {});
    if (view.seq) this.fetchNotes(this.timeline, view).catch(() => {});
  }

  /** Nor does it have what the host itself told: the end of the log does. @param {Timeline} timeline @param {{epoch: string, seq: number}} view */
  async fetchNotes(timeline, { epoch, seq }) {
    const after = `${epoch}-${Math.max(0, seq - PAGE)}`;
    const { frames = [] } = await this.connection.call('read_events', { session_id: this.id, after, limit: PAGE });
    addHostNotes(timeline, frames.filter((/** @type {import('./types.js').Frame} */ frame) => frame.seq <= seq));
    this.changed();
  }

  /** The snapshot does not have the prompts that wait. */
  async fetchQueue() {
    const { prompts } = await this.connection.call('list_prompts', { session_id: this.id });
    this.timeline.queue = prompts;
    this.changed();
  }

  /** @param {Timeline} timeline @param {string} epoch @param {number} seq */
  start(timeline, epoch, seq) {
    this.timeline = timeline;
    this.epoch = epoch;
    this.seq = seq;
    this.hasEarlier.value = timeline.dropped_items > 0;
    this.timeline.reordered = true;
    this.drawn = new Map();
    this.draw();
    this.state.value = 'live';
  }

  /** @param {import('../net/connection.js').Message} message */
  receive(message) {
    if (message.op === 'frame') this.frame(/** @type {any} */ (message));
    else if (message.op === 'preview') foldPreview(this.timeline, /** @type {any} */ (message));
    else if (message.op === 'gap') void this.restart();
    else if (message.op === 'hello') this.timeline.dropPreviews(); // they may have been finished since the line broke
    else if (message.op === 'error') this.state.value = message.detail;
    this.changed();
  }

  /** @param {import('./types.js').Frame} frame */
  frame(frame) {
    if (frame.seq <= this.seq) return;
    foldFrame(this.timeline, frame);
    this.seq = frame.seq;
  }

  async restart() {
    this.leave();
    this.state.value = 'loading';
    await this.open();
  }

  changed() {
    if (this.drawing) return;
    this.drawing = true;
    onNextPicture(() => {
      this.drawing = false;
      this.draw();
    });
  }

  /** A new picture: items that have changed are new objects, so that only those are drawn again. */
  draw() {
    const { timeline } = this;
    const touched = [...timeline.touched];
    timeline.touched.clear();
    for (const id of touched) this.drawn.delete(id);
    if (timeline.reordered) this.arrange();
    else for (const id of touched) this.replace(id);
    this.picture.value = { ...this.picture.value, timeline: timeline.seen() };
  }

  /** Everything in its place, in the order in which it started. */
  arrange() {
    const { timeline } = this;
    /** @type {Picture} */
    const picture = { items: [], children: new Map(), timeline };
    this.places.clear();
    for (const all of [timeline.items, timeline.previews]) {
      for (const item of all.values()) {
        let list = picture.items;
        if (item.parent_id) {
          list = picture.children.get(item.parent_id) ?? [];
          picture.children.set(item.parent_id, list);
        }
        this.places.set(item.id, { list, index: list.length });
        list.push(this.copy(item));
      }
    }
    timeline.reordered = false;
    this.picture.value = picture;
  }

  /** @param {string} id */
  replace(id) {
    const item = this.timeline.previews.get(id) ?? this.timeline.items.get(id);
    const place = this.places.get(id);
    if (item && place) place.list[place.index] = this.copy(item);
  }

  /** @param {Item} item */
  copy(item) {
    let copy = this.drawn.get(item.id);
    if (copy === undefined) this.drawn.set(item.id, (copy = { ...item }));
    return copy;
  }

  /** What a row of the log is about: the ids of items, and when it was. What the snapshot leaves out is loaded. @param {number} seq */
  async rowAt(seq) {
    const { frames = [] } = await this.connection.call('read_events', { session_id: this.id, after: `${this.epoch}-${seq - 1}`, limit: 1 });
    /** @type {import('./types.js').TimelineEvent[]} */
    const events = frames[0]?.events ?? [];
    const named = events.flatMap((event) => [event.id, event.request?.id, event.request?.tool_id, event.turn?.id]).filter(Boolean);
    const at = frames[0]?.at ?? 0;
    const oldest = this.timeline.items.values().next().value?.at ?? 0;
    // Rows that were read together have one time.
    if (this.hasEarlier.value && at <= oldest && !named.some((id) => this.timeline.items.has(id))) await this.loadEarlier();
    /** @type {Set<string>} */
    const ids = new Set();
    for (let id of named) {
      for (; id && !ids.has(id); id = this.timeline.items.get(id)?.parent_id) ids.add(id); // a sub-agent's is in its call
    }
    return { ids, at };
  }

  /** The whole log, from its beginning: for who wants to see what the snapshot leaves out. */
  async loadEarlier() {
    const whole = new Timeline();
    let after = `${this.epoch}-0`;
    let seq = 0;
    let last = this.seq;
    this.loadingEarlier.value = 0.001;
    do {
      const page = await this.connection.call('read_events', { session_id: this.id, after, limit: PAGE });
      if (page.gap || page.epoch !== this.epoch || !page.frames.length) break;
      for (const frame of page.frames) foldFrame(whole, frame);
      seq = page.frames.at(-1).seq;
      last = page.last_seq;
      after = `${this.epoch}-${seq}`;
      this.loadingEarlier.value = seq / Math.max(last, 1);
    } while (seq < this.seq);
    this.loadingEarlier.value = 0;
    this.hasEarlier.value = false;
    if (seq < this.seq || this.closed) return;
    whole.queue = this.timeline.queue;
    whole.previews = this.timeline.previews;
    whole.session = { ...this.timeline.session, ...whole.session };
    this.leave();
    this.start(whole, this.epoch, seq);
    this.follow();
  }
}
