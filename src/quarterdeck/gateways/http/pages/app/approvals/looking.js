/** What a permission is about: the command with its risky part marked, the change as a diff, or the input as it is. */

import { deck } from '../deck.js';
import { html, useEffect, useState } from '../lib.js';
import { Command } from '../parts/command.js';
import { Diffs } from '../parts/diff.js';
import { marked, visible } from '../parts/text.js';

/**
 * @typedef {import('../store/types.js').Approval} Approval
 * @typedef {{decision?: string, reason?: string, risky_parts?: [number, number][], would_allow?: string[], parts?: {text: string, decision: string, reason: string}[]}} Explained
 */

/** What the policy says about the call: which parts are risky, and the rules that would allow exactly this. @param {Approval} approval */
export function useExplained(approval) {
  const [explained, setExplained] = useState(/** @type {Explained} */ ({}));
  const cwd = deck().host.session(approval)?.cwd;
  useEffect(() => {
    let wanted = true;
    setExplained({});
    if (approval.kind === 'permission' && approval.tool && cwd) {
      const asking = deck().call('explain_policy', { tool: approval.tool, input: approval.input ?? {}, cwd });
      asking.then((found) => wanted && setExplained(found)).catch(() => {}); // the decision is possible without it
    }
    return () => {
      wanted = false;
    };
  }, [approval.id, cwd]);
  return explained;
}

/** @param {{approval: Approval, explained: Explained}} props */
export function Subject({ approval, explained }) {
  const input = approval.input ?? {};
  if (typeof input.command === 'string') {
    return html`<${Command} command=${input.command} risky=${explained.risky_parts} />
      ${input.description ? html`<p class="said">${marked(input.description)} <span class="dim">(in its own words)</span></p>` : null}
      <${PartsOfCommand} explained=${explained} />`;
  }
  if (approval.diffs?.length) return html`<${Diffs} diffs=${approval.diffs} />`;
  return html`<${Fields} input=${input} />`;
}

/** @param {{explained: Explained}} props */
function PartsOfCommand({ explained }) {
  const parts = explained.parts ?? [];
  if (parts.length < 2) return null;
  return html`<details class="parts"><summary>${parts.length} commands in it</summary>
    <ul>${parts.map((part) => html`<li><code>${marked(part.text)}</code> <span class="dim">${marked(part.reason)}</span></li>`)}</ul>
  </details>`;
}

/** An input without a picture of its own. @param {{input: Record<string, any>}} props */
export function Fields({ input }) {
  return html`<dl class="fields">
    ${Object.entries(input).map(
      ([name, value]) => html`<div><dt>${marked(name)}</dt><dd>${
        typeof value === 'string' ? html`<pre>${marked(value)}</pre>` : html`<pre>${visible(JSON.stringify(value, null, 2))}</pre>`
      }</dd></div>`,
    )}
  </dl>`;
}
