/** One thing that waits: from which session, how dangerous, since when, what it is about, and the decision. */

import { deck } from '../deck.js';
import { html } from '../lib.js';
import { Time } from '../parts/format.js';
import { Guard } from '../parts/guard.js';
import { baseName, marked, visible } from '../parts/text.js';
import { link } from '../router.js';
import { riskLevel } from '../store/host.js';
import { useReady } from './deciding.js';
import { DialogDecision, ElicitationDecision } from './elicitation.js';
import { keyed } from './keyed.js';
import { PermissionDecision } from './permission.js';
import { PlanDecision } from './plan.js';
import { QuestionsDecision } from './questions.js';

/** @type {Record<string, any>} */
const DECISIONS = {
  permission: PermissionDecision,
  questions: QuestionsDecision,
  plan_review: PlanDecision,
  elicitation: ElicitationDecision,
  dialog: DialogDecision,
};
/** @type {Record<string, string>} */
const KINDS = { permission: 'Permission', questions: 'Question', plan_review: 'Plan', elicitation: 'Form', dialog: 'Dialog' };

/** @param {import('../store/types.js').Approval} approval */
export const kindOf = ({ kind }) => (Object.hasOwn(KINDS, kind) ? KINDS[kind] : 'Request');

/** `inside`: in its session, below the call that it is about. @param {{approval: import('../store/types.js').Approval, inside?: boolean}} props */
export function ApprovalCard({ approval, inside = false }) {
  const session = deck().host.session(approval);
  const ready = useReady(approval);
  const Decision = Object.hasOwn(DECISIONS, approval.kind) ? DECISIONS[approval.kind] : DialogDecision;
  return html`<article class=${`approval ${keyed.value === approval.id ? 'keyed' : ''}`} tabindex="-1" aria-label=${visible(`${kindOf(approval)}: ${approval.summary ?? ''}`)} data-approval=${approval.id}>
    <header>
      <h2>${marked(inside ? 'Waits for you' : approval.kind === 'permission' ? approval.tool : kindOf(approval))}</h2>
      <${RiskMark} risk=${approval.risk} />
      <p class="from">${inside ? null : html`<a href=${link('session', approval.session_id)}>${marked(session?.name || approval.session_id.slice(0, 8))}</a>
        <span class="dim" title=${visible(session?.cwd)}>${marked(baseName(session?.cwd))}</span>`}
        <span class="dim">${inside ? '' : 'waiting '}<${Time} at=${approval.asked_at} /></span>
        ${approval.replaces ? html`<span class="tag">asked again after a restart</span>` : null}</p>
    </header>
    <fieldset class="decided" disabled=${!ready}><${Guard} key=${approval.id} what="This request" raw=${approval}><${Decision} approval=${approval} ready=${ready} /><//></fieldset>
  </article>`;
}

/** @param {{risk?: string}} props */
export function RiskMark({ risk }) {
  if (!risk) return null;
  const [level, why = ''] = risk.split(/:\s*/, 2);
  return html`<span class=${`risk ${level}`} title=${visible(`Risk: ${risk}`)}>${why ? marked(why) : `${level} risk`}</span>`;
}

export { riskLevel };
