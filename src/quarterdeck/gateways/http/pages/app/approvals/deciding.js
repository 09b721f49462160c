/** Decisions: sent once, and what became of them told plainly. */

import { deck } from '../deck.js';
import { effect, useEffect, useLayoutEffect, useState } from '../lib.js';
import { HostError } from '../net/connection.js';
import { say, sayError } from '../parts/toasts.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/** For so long nothing counts that may have been meant for something else. */
export const LOOK_MS = 500;
/** @type {Set<string>} Approvals on the screen. */
const shown = new Set();
/** @type {Set<string>} Approvals that this page has decided. */
const ours = new Set();
let replacedAt = -LOOK_MS;

/**
 * Whether a decision counts already. Where a request took the place of one that was just decided, here or by somebody
 * else, a second press or click was not meant for it: for half a second there is time to look.
 * @param {Approval} approval
 */
export function useReady(approval) {
  const since = performance.now() - replacedAt;
  const [ready, setReady] = useState(since >= LOOK_MS);
  useLayoutEffect(() => {
    shown.add(approval.id);
    return () => {
      shown.delete(approval.id);
    };
  }, []);
  useEffect(() => {
    const timer = ready ? undefined : setTimeout(() => setReady(true), LOOK_MS - since);
    return () => clearTimeout(timer);
  }, []);
  return ready;
}

/** Says who decided what is on the screen, if it was not this page. @param {import('../store/host.js').HostStore} host */
export function watchSettled(host) {
  /** @type {Set<string>} */
  let known = new Set();
  return effect(() => {
    const settled = host.settled.value;
    const news = settled.filter((one) => !known.has(one.id));
    known = new Set(settled.map((one) => one.id));
    for (const one of news) {
      if (!shown.has(one.id)) continue;
      replacedAt = performance.now();
      if (!ours.has(one.id)) say(`${one.summary || one.tool || 'It'}: ${outcome(one)}.`);
    }
  });
}

/** Decide, and remember that it was this page. @param {Approval} approval @param {Record<string, any>} decision */
export async function sendDecision(approval, decision) {
  ours.add(approval.id);
  try {
    return await deck().call('decide', { approval_id: approval.id, ...decision });
  } catch (error) {
    ours.delete(approval.id);
    throw error;
  }
}

/**
 * Decide; true if it was us who did.
 * @param {Approval} approval @param {Record<string, any>} decision @param {string} told What to say when it is done.
 */
export async function decide(approval, decision, told) {
  try {
    await sendDecision(approval, decision);
    say(told);
    return true;
  } catch (error) {
    if (error instanceof HostError && error.code === 'already_decided') {
      say(`Too late: ${error.problem.decided_by || 'somebody'} has decided this already (${error.problem.decision}).`, 'error');
    } else sayError(error);
    return false;
  }
}

/** What happened to an approval, in a few words. @param {Approval} approval */
export function outcome(approval) {
  if (approval.state === 'withdrawn') return 'withdrawn';
  if (approval.state === 'stranded') return 'lost with its process';
  const verb = approval.decision?.decision === 'allow' ? 'allowed' : 'denied';
  const by = approval.decided_by;
  const name = by?.kind === 'deadline' ? 'the deadline' : by?.kind === 'rule' ? `rule ${by.name ?? ''}` : by?.name || 'somebody';
  const face = approval.via && approval.via !== 'http' && by?.kind !== 'deadline' ? ` (${approval.via})` : '';
  return `${verb} by ${name}${face}${approval.state === 'undeliverable' ? ', not delivered' : ''}`;
}

/** Undo: there is none, and that is what it says. @param {Approval} approval */
export function undo(approval) {
  const session = deck().host.session(approval);
  const reached = { applied: 'Claude Code has acted on it', delivered: 'it has reached Claude Code' }[approval.state] ?? 'it is on its way to Claude Code';
  say(`Too late to undo: ${reached}. To stop what follows, interrupt ${session?.name || 'the session'}.`, 'error');
}
