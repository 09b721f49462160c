/** Decisions: sent once, and what became of them told plainly. */

import { deck } from '../deck.js';
import { HostError } from '../net/connection.js';
import { say, sayError } from '../parts/toasts.js';

/** @typedef {import('../store/types.js').Approval} Approval */

/**
 * Decide; true if it was us who did.
 * @param {Approval} approval @param {Record<string, any>} decision @param {string} told What to say when it is done.
 */
export async function decide(approval, decision, told) {
  try {
    await deck().call('decide', { approval_id: approval.id, ...decision });
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
