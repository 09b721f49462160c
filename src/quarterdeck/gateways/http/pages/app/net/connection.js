/**
 * One WebSocket for everything: operations, and streams that go on where they were after it broke.
 *
 * A write carries an idempotency key and is sent again after a reconnect until it is answered: it happens once, however
 * often the line breaks. A stream is subscribed again after its cursor.
 *
 * @typedef {import('./early.js').Message} Message
 * @typedef {{request: () => Record<string, any>, receive: (message: Message) => void}} Stream
 * @typedef {'connecting' | 'online' | 'offline' | 'refused'} LinkState
 */

import { batch, signal } from '../lib.js';
import { protocols, takeBegun } from './early.js';

const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
const SILENCE = 2.5; // heartbeats that may be missed
const READS = /^(get|list|read|search|explain|export|try|wait)_?/;

/** What the host refused, with what it says about it. */
export class HostError extends Error {
  /** @param {Record<string, any>} problem */
  constructor(problem) {
    super(problem.detail || problem.title || 'The host refused this.');
    this.problem = problem;
    /** @type {string} */
    this.code = problem.code ?? '';
    /** @type {string} */
    this.hint = problem.hint ?? '';
  }
}

export class Connection {
  /** @param {string} url @param {string} token @param {typeof WebSocket} [Socket] */
  constructor(url, token, Socket = WebSocket) {
    this.url = url;
    this.token = token;
    this.Socket = Socket;
    /** @type {import('../vendor/signals.js').Signal<LinkState>} */
    this.state = signal(/** @type {LinkState} */ ('connecting'));
    /** How often it was lost and found again. */
    this.reconnects = signal(0);
    /** Writes that wait for the host to be back. */
    this.unsent = signal(0);
    /** @type {string} Who we are, as the host calls us. */
    this.name = '';
    /** @type {Map<number, {message: Message, resolve: (value: any) => void, reject: (error: Error) => void}>} */
    this.calls = new Map();
    /** @type {Map<string, Stream>} */
    this.streams = new Map();
    /** @type {{message: Message, answer: Message | null}[]} What was asked on this socket before anybody was there to ask. */
    this.asked = [];
    this.counter = 0;
    this.failures = 0;
    this.heard = 0;
    this.heartbeat_s = 15;
    /** @type {WebSocket | null} */
    this.socket = null;
    this.wasOnline = false;
    this.closed = false;
  }

  open() {
    const begun = takeBegun(this.token);
    const socket = begun?.socket ?? new this.Socket(this.url, protocols(this.token));
    this.socket = socket;
    socket.onmessage = (event) => socket === this.socket && this.receive(JSON.parse(event.data));
    socket.onclose = (event) => this.lost(socket, event.code);
    globalThis.addEventListener?.('online', this.hurry);
    clearInterval(this.watching);
    this.watching = setInterval(() => this.checkSilence(), 1_000);
    this.asked = (begun?.asked ?? []).map((message) => ({ message, answer: null }));
    for (const messages of begun?.heard ?? []) this.receive(messages);
    if (begun && begun.closed !== null) this.lost(socket, begun.closed);
  }

  close() {
    this.closed = true;
    clearInterval(this.watching);
    clearTimeout(this.retry);
    globalThis.removeEventListener?.('online', this.hurry);
    this.socket?.close();
  }

  hurry = () => {
    if (this.state.value === 'offline') {
      clearTimeout(this.retry);
      this.failures = 0;
      const attempt = this.socket; // one that may still be on its way counts no more
      this.socket = null;
      attempt?.close();
      this.open();
    }
  };

  checkSilence() {
    if (this.state.value !== 'online') return;
    const { socket } = this;
    if (!socket || performance.now() - this.heard <= SILENCE * this.heartbeat_s * 1_000) return;
    socket.close();
    this.lost(socket, 1006); // the browser waits for an answer before it says so
  }

  /** @param {WebSocket} socket @param {number} code */
  lost(socket, code) {
    if (socket !== this.socket || this.closed) return;
    this.socket = null;
    this.asked = [];
    this.countUnsent();
    if (code === 1008) {
      this.state.value = 'refused';
      return;
    }
    this.state.value = 'offline';
    this.failures += 1;
    const wait = Math.min(FIRST_RETRY_MS * 2 ** (this.failures - 1), LONGEST_RETRY_MS);
    this.retry = setTimeout(() => this.again(), wait * (0.75 + Math.random() / 2));
  }

  /** Whether the host is there at all, or does not want us: a browser does not tell why a WebSocket failed. */
  async again() {
    const base = new URL(this.url);
    base.protocol = base.protocol === 'wss:' ? 'https:' : 'http:';
    try {
      const answer = await fetch(new URL('host', base), { headers: { authorization: `Bearer ${this.token}` } });
      if (answer.status === 401) {
        this.state.value = 'refused';
        return;
      }
    } catch {
      // not there; the attempt below says so too, and waits longer
    }
    if (!this.closed && this.socket === null) this.open();
  }

  /** @param {Message[]} messages */
  receive(messages) {
    this.heard = performance.now();
    batch(() => {
      for (const message of messages) this.take(message);
    });
  }

  /** @param {Message} message */
  take(message) {
    const { ref } = message;
    if (message.op === 'hello' && ref === undefined) this.greeted(message);
    else if (typeof ref === 'string') this.streams.get(ref)?.receive(message);
    else if (typeof ref === 'number') this.answered(ref, message);
  }

  /** @param {Message} hello */
  greeted(hello) {
    this.heartbeat_s = hello.heartbeat_s ?? this.heartbeat_s;
    this.name = hello.name ?? '';
    this.failures = 0;
    if (this.wasOnline) this.reconnects.value += 1;
    this.wasOnline = true;
    this.state.value = 'online';
    for (const ref of this.streams.keys()) this.start(ref);
    for (const { message } of this.calls.values()) this.send(message);
    this.countUnsent();
  }

  /** @param {number} ref @param {Message} message */
  answered(ref, message) {
    const call = this.calls.get(ref);
    const early = this.asked.find((one) => one.message.ref === ref);
    if (early) early.answer = message;
    if (call === undefined) return;
    this.calls.delete(ref);
    if (message.op === 'error') call.reject(new HostError(message));
    else call.resolve(message.result);
  }

  /** Whether the same was asked early: then it is not asked again. @param {Message} wanted */
  takeAsked(wanted) {
    const same = (/** @type {Message} */ one) => one.op === wanted.op && JSON.stringify({ ...one, ref: undefined }) === JSON.stringify({ ...wanted, ref: undefined });
    const at = this.asked.findIndex(({ message }) => same(message));
    return at < 0 ? undefined : this.asked.splice(at, 1)[0];
  }

  /** @param {Message} message */
  send(message) {
    if (this.state.value === 'online') this.socket?.send(JSON.stringify(message));
  }

  countUnsent() {
    const waiting = [...this.calls.values()].filter(({ message }) => !READS.test(message.op)).length;
    this.unsent.value = this.state.value === 'online' ? 0 : waiting;
  }

  /** An operation of the host. @param {string} op @param {Record<string, any>} [fields] @returns {Promise<any>} */
  call(op, fields = {}) {
    const early = this.takeAsked({ op, ...fields });
    this.counter += 1;
    /** @type {Message} */
    const message = early?.message ?? { op, ref: this.counter, ...fields };
    if (!READS.test(op)) message.idempotency_key = newKey();
    const ref = /** @type {number} */ (message.ref);
    return new Promise((resolve, reject) => {
      this.calls.set(ref, { message, resolve, reject });
      if (early?.answer) this.answered(ref, early.answer);
      else if (!early) this.send(message);
      this.countUnsent();
    });
  }

  /**
   * A stream, subscribed again after each reconnect with what `request` says then. Returns how to end it.
   * @param {string} ref @param {Stream} stream
   */
  subscribe(ref, stream) {
    this.streams.set(ref, stream);
    this.start(ref);
    return () => {
      if (this.streams.get(ref) !== stream) return;
      this.streams.delete(ref);
      this.send({ op: 'unsubscribe', ref });
    };
  }

  /** @param {string} ref */
  start(ref) {
    const stream = this.streams.get(ref);
    if (!stream) return;
    const message = { op: 'subscribe', ref, ...stream.request() };
    if (this.state.value === 'online' && !this.takeAsked(message)) this.send(message);
  }
}

/** Random, also where the page is not served over TLS. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
