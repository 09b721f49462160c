/** Requests as they were answered, notices, hooks, and the line between turns. */

import { ApprovalCard } from '../approvals/approval.js';
import { html } from '../lib.js';
import { Time, allTokens, count, duration, money } from '../parts/format.js';
import { Markdown } from '../parts/markdown.js';
import { marked, visible } from '../parts/text.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../session/context.js').SessionContext} SessionContext
 */

/** Something that a person is or was asked. @param {{item: Item, context: SessionContext}} props */
export function RequestItem({ item, context }) {
  const approval = item.status === 'open' ? context.approval(item.id) : undefined;
  if (approval) return html`<div class="asked"><${ApprovalCard} approval=${approval} inside=${true} /></div>`;
  if (item.status === 'open') return html`<p class="dim">Asking…</p>`;
  if (item.type === 'questions') {
    return html`<dl class="answered">${(item.questions ?? []).map(
      (/** @type {any} */ question) => html`<div><dt>${marked(question.text)}</dt><dd>${marked(Object.hasOwn(item.answers ?? {}, question.text) ? item.answers[question.text] : (item.status === 'cancelled' ? 'withdrawn' : 'skipped'))}</dd></div>`,
    )}</dl>`;
  }
  if (item.type === 'plan_review') {
    return html`<details class="answered"><summary>Plan ${item.approved ? 'approved' : item.status === 'cancelled' ? 'withdrawn' : 'sent back'}${item.note ? html`: ${marked(item.note)}` : ''}</summary><${Markdown} text=${item.plan ?? ''} /></details>`;
  }
  if (item.type === 'elicitation') return html`<p class="dim">${marked(item.server)} asked: ${marked(item.message)} → ${marked(item.action ?? item.status)}</p>`;
  const note = [item.input_changed ? 'edited' : '', ...(item.rules_added ?? []), item.note ?? ''].filter(Boolean).join(', ');
  return html`<p class="dim">${item.status === 'cancelled' ? 'Withdrawn' : item.allowed === false ? 'Denied' : 'Allowed'}: ${marked(item.about || item.label || item.kind)}${note ? html` (${marked(note)})` : null}</p>`;
}

/** @type {Record<string, string>} */
const NOTICES = { compaction: 'Compacted', reset: 'New conversation', files_rewound: 'Files restored', interrupted: 'Interrupted' };

/** @param {{item: Item}} props */
export function NoticeItem({ item }) {
  if (item.kind === 'compaction_summary' || item.kind === 'told_model') {
    return html`<details class="notice"><summary>${item.kind === 'told_model' ? 'Told to the model' : 'Summary of the earlier conversation'}</summary><${Markdown} text=${item.text ?? ''} /></details>`;
  }
  const data = item.kind === 'custom' ? item.details?.data : item.kind === 'unknown' ? item.details?.raw : undefined;
  return html`<div class=${`notice ${item.level}`}>
    <p>${Object.hasOwn(NOTICES, item.kind) ? html`<b>${NOTICES[item.kind]}</b> ` : null}${marked(item.kind === 'interrupted' || item.kind === 'files_rewound' ? '' : item.text)}</p>
    ${data ? html`<details><summary>What it says</summary><pre>${visible(typeof data === 'string' ? data : JSON.stringify(data, null, 2))}</pre></details>` : null}
  </div>`;
}

/** @param {{item: Item}} props */
export function HookItem({ item }) {
  const output = item.output?.text;
  return html`<p class=${`hook dim ${item.outcome ?? ''}`}>Hook ${marked(item.event)} ${marked(item.name)}: ${marked(item.outcome ?? 'runs')}${output ? html` <span>${marked(output.slice(0, 300))}</span>` : null}</p>`;
}

/** @type {Record<string, string>} */
const OUTCOMES = { done: '', failed: 'failed', interrupted: 'interrupted', limit: 'limit reached' };

/** The line between turns. @param {{item: Item}} props */
export function TurnItem({ item }) {
  const tokens = allTokens(item.tokens);
  const facts = [duration(item.duration_s ?? 0), item.steps > 1 ? `${item.steps} steps` : '', tokens ? `${count(tokens)} tokens` : '', money(item.cost_usd)];
  return html`<div class=${`turn ${item.outcome}`} role="separator" aria-label=${`End of turn ${item.number}`}>
    <span>Turn ${item.number}${OUTCOMES[item.outcome] ? ` ${OUTCOMES[item.outcome]}` : ''}</span>
    <span class="dim">${facts.filter(Boolean).join(' · ')} · <${Time} at=${item.at} exact=${true} /></span>
    ${item.error ? html`<p class="problem">${marked(item.error)}</p>` : null}
  </div>`;
}
