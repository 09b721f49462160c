/** All sessions, and everything that waits for a person: lists that follow the host's changes. */

import { computed, signal } from '../lib.js';
import { PAGE } from '../net/early.js';
import { now } from '../parts/format.js';

/**
 * @typedef {import('./types.js').Session} Session
 * @typedef {import('./types.js').Approval} Approval
 * @typedef {import('../net/connection.js').Connection} Connection
 */

const SETTLED_KEPT = 30;

export class HostStore {
  /** @param {Connection} connection */
  constructor(connection) {
    this.connection = connection;
    this.sessions = signal(/** @type {Map<string, Session>} */ (new Map()));
    this.approvals = signal(/** @type {Map<string, Approval>} */ (new Map()));
    /** Approvals that ended while we looked, newest first: by whom, and how. */
    this.settled = signal(/** @type {Approval[]} */ ([]));
    /** False until the lists are there, and while they are fetched again. */
    this.loaded = signal(false);
    /** Why the lists are not there. */
    this.problem = signal('');
    this.inbox = computed(() => [...this.approvals.value.values()].sort(mostUrgent));
    /** @type {number | null} The position in the host's changes. */
    this.pos = null;
    /** @type {any[] | null} Changes that came while the lists were on their way. */
    this.early = [];
    /** @type {Map<string, Session | null>} */
    this.changedSessions = new Map();
    /** @type {Map<string, Approval>} */
    this.changedApprovals = new Map();
    this.drawing = false;
  }

  open() {
    return this.connection.subscribe('host', {
      request: () => ({ session: '*', after: this.pos }),
      receive: (message) => this.receive(message),
    });
  }

  /** @param {import('../net/connection.js').Message} message */
  receive(message) {
    if (message.op === 'hello') {
      const known = this.pos !== null && message.resume === 'ok';
      this.pos = message.pos;
      if (!known) void this.fetch();
    } else if (message.op === 'gap') {
      this.pos = message.pos;
      void this.fetch();
    } else if (message.pos !== undefined) {
      this.pos = message.pos;
      if (this.early) this.early.push(message);
      else this.change(message);
    }
  }

  /** The lists; then what has changed since they were asked for, in its order. */
  async fetch() {
    this.early = [];
    this.problem.value = '';
    const call = this.connection;
    let lists;
    try {
      lists = await Promise.all([all(call, 'list_sessions', 'sessions', {}), all(call, 'list_approvals', 'approvals', {})]);
    } catch (error) {
      this.problem.value = error instanceof Error ? error.message : String(error);
      return;
    }
    const [sessions, approvals] = lists;
    this.sessions.value = new Map(sessions.map((one) => [one.id, one]));
    this.approvals.value = new Map(approvals.map((one) => [one.id, one]));
    /** @type {any[]} */
    const early = this.early ?? [];
    this.early = null;
    for (const message of early) this.change(message);
    this.loaded.value = true;
  }

  /** @param {any} message */
  change(message) {
    if (message.op === 'session') this.changedSessions.set(message.id, message.session);
    else if (message.op === 'approval' && message.approval) this.changedApprovals.set(message.id, message.approval);
    else return;
    if (!this.drawing) {
      this.drawing = true;
      onNextPicture(() => this.draw());
    }
  }

  /** All changes of one picture at once. */
  draw() {
    this.drawing = false;
    if (this.changedSessions.size) {
      const sessions = new Map(this.sessions.value);
      for (const [id, session] of this.changedSessions) session ? sessions.set(id, session) : sessions.delete(id);
      this.changedSessions.clear();
      this.sessions.value = sessions;
    }
    if (this.changedApprovals.size) {
      const approvals = new Map(this.approvals.value);
      for (const approval of this.changedApprovals.values()) this.settle(approvals, approval);
      this.changedApprovals.clear();
      this.approvals.value = approvals;
    }
  }

  /** @param {Map<string, Approval>} approvals @param {Approval} approval */
  settle(approvals, approval) {
    if (approval.state === 'pending') {
      approvals.set(approval.id, approval);
      return;
    }
    const waited = approvals.delete(approval.id);
    const others = this.settled.value.filter((one) => one.id !== approval.id);
    if (waited || others.length !== this.settled.value.length) {
      this.settled.value = [approval, ...others].slice(0, SETTLED_KEPT);
    }
  }

  /** @param {Approval} approval */
  session(approval) {
    return this.sessions.value.get(approval.session_id);
  }
}

/** @param {Connection} connection @param {string} op @param {string} name @param {Record<string, any>} filter */
export async function all(connection, op, name, filter) {
  /** @type {any[]} */
  const found = [];
  let cursor = null;
  do {
    const page = await connection.call(op, { ...filter, limit: PAGE, cursor });
    found.push(...page[name]);
    cursor = page.next_cursor ?? null;
  } while (cursor !== null);
  return found;
}

/** Once, before the browser paints next; soon, when nobody looks. @param {() => void} work */
export function onNextPicture(work) {
  if (document.visibilityState === 'visible') requestAnimationFrame(() => work());
  else setTimeout(work, 50);
}

/** @type {Record<string, number>} */
const RISKS = { high: 3, medium: 2, low: 1 };

/** @param {Approval} approval */
export const riskLevel = (approval) => (approval.risk ?? '').split(':')[0];

/** From then on it is as urgent as what is dangerous: unattended, a request is denied after fifteen minutes. */
const OLD_MS = 10 * 60_000;

/** @param {Approval} approval */
const urgency = (approval) => (now.value - Date.parse(approval.asked_at) > OLD_MS ? RISKS.high : (RISKS[riskLevel(approval)] ?? 0));

/** What is dangerous or old first, then what has waited longest. @param {Approval} one @param {Approval} other */
export function mostUrgent(one, other) {
  return urgency(other) - urgency(one) || one.asked_at.localeCompare(other.asked_at) || one.id.localeCompare(other.id);
}
