/** Times, money and counts, as people read them. */

import { html, signal } from '../lib.js';

/** The time, moved on twice a minute: "3 min ago" must not stay. */
export const now = signal(Date.now());
setInterval(() => {
  now.value = Date.now();
}, 15_000);

/** @param {number} seconds */
export function duration(seconds) {
  const s = Math.max(0, seconds);
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min${s < 600 && Math.round(s % 60) ? ` ${Math.round(s % 60)} s` : ''}`;
  if (s < 172_800) return `${Math.floor(s / 3_600)} h${Math.floor((s % 3_600) / 60) ? ` ${Math.floor((s % 3_600) / 60)} min` : ''}`;
  return `${Math.floor(s / 86_400)} days`;
}

/** How long ago, in one word. @param {number} ms */
export function ago(ms) {
  const s = (now.value - ms) / 1_000;
  if (s < 45) return 'now';
  if (s < 3_600) return `${Math.max(1, Math.round(s / 60))} min`;
  if (s < 86_400) return `${Math.round(s / 3_600)} h`;
  return `${Math.round(s / 86_400)} d`;
}

/** @param {string | number | undefined} at RFC 3339, or seconds. */
export const millis = (at) => (typeof at === 'number' ? at * 1_000 : at ? Date.parse(at) : 0);

/** A moment as a `time` element with the whole of it as its title. @param {{at: string | number | undefined, exact?: boolean}} props */
export function Time({ at, exact = false }) {
  if (!at) return null;
  const date = new Date(millis(at));
  if (Number.isNaN(date.getTime())) return null;
  const shown = exact ? clock(date) : ago(date.getTime());
  return html`<time datetime=${date.toISOString()} title=${date.toLocaleString()}>${shown}</time>`;
}

/** @param {Date} date */
export function clock(date) {
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  return date.toDateString() === new Date().toDateString() ? time : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })} ${time}`;
}

/** @param {string | number | undefined} usd */
export function money(usd) {
  const amount = Number(usd ?? 0);
  if (amount === 0) return '$0';
  if (Math.abs(amount) < 0.005) return '<$0.01';
  return `$${amount.toFixed(2)}`;
}

/** Says so where a cost is made up: the session runs on the simulator. @param {{session: import('../store/types.js').Session}} props */
export function Simulated({ session }) {
  return session.agent === 'sim' && Number(session.cost_usd ?? 0) ? html`<span class="dim simulated"> simulated</span>` : null;
}

/** @param {number | undefined} n */
export function count(n = 0) {
  if (n < 1_000) return String(n);
  if (n < 1_000_000) return `${(n / 1_000).toFixed(n < 10_000 ? 1 : 0)}k`;
  return `${(n / 1_000_000).toFixed(n < 10_000_000 ? 1 : 0)}M`;
}

/** @param {import('../store/types.js').TokenCounts | undefined} tokens */
export const allTokens = (tokens = {}) =>
  (tokens.input ?? 0) + (tokens.output ?? 0) + (tokens.cache_read ?? 0) + (tokens.cache_write ?? 0);

/** @param {string | undefined} model */
export const shortModel = (model) => (model ?? '').replace(/^claude-/, '').replace(/-20\d{6}$/, '');
