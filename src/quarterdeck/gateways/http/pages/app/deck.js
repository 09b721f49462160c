/** What all views share, once a person has signed in: the connection, the lists, and the session that is open. */

import { signal } from './lib.js';
import { Connection } from './net/connection.js';
import { socketUrl } from './net/early.js';
import { HostStore } from './store/host.js';
import { SessionStore } from './store/session.js';

export class Deck {
  /** @param {string} token */
  constructor(token) {
    this.connection = new Connection(socketUrl(), token);
    this.host = new HostStore(this.connection);
    /** @type {SessionStore | null} */
    this.opened = null;
    /** What the token may do; empty until the host has said it. */
    this.features = signal(/** @type {Record<string, any> | null} */ (null));
  }

  open() {
    this.host.open(); // first: what was asked early may have been answered
    this.connection.open();
  }

  close() {
    this.opened?.close();
    this.connection.close();
  }

  /** The store of a session; the one before is left. @param {string} id */
  session(id) {
    if (this.opened?.id !== id) {
      this.opened?.close();
      this.opened = new SessionStore(this.connection, id);
      void this.opened.open();
    }
    return this.opened;
  }

  /** @param {string} op @param {Record<string, any>} [fields] */
  call(op, fields) {
    return this.connection.call(op, fields);
  }
}

/** @type {import('./vendor/signals.js').Signal<Deck | null>} */
export const current = signal(null);

/** The deck, where there must be one. @returns {Deck} */
export function deck() {
  if (current.value === null) throw new Error('nobody has signed in');
  return current.value;
}
