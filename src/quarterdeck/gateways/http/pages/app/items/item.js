/** Any item of a conversation, drawn again only when it has changed. */

import { Component, html } from '../lib.js';
import { Guard } from '../parts/guard.js';
import { HookItem, NoticeItem, RequestItem, TurnItem } from './others.js';
import { PromptItem, TextItem, ThinkingItem } from './said.js';
import { ToolCallItem } from './tool_call.js';

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../session/context.js').SessionContext} SessionContext
 */

/** @type {Record<string, any>} */
const KINDS = {
  prompt: PromptItem,
  text: TextItem,
  thinking: ThinkingItem,
  tool_call: ToolCallItem,
  permission: RequestItem,
  questions: RequestItem,
  plan_review: RequestItem,
  elicitation: RequestItem,
  dialog: RequestItem,
  notice: NoticeItem,
  hook: HookItem,
  turn: TurnItem,
};

/** Whether there is anything to see of it. @param {Item} item */
export function isShown(item) {
  if (item.type === 'hook') return item.outcome !== 'success' && item.outcome !== undefined && item.outcome !== null;
  if (item.type === 'permission') return item.status === 'open';
  if (item.type === 'notice') return item.kind !== 'summary' && Boolean(item.text || item.kind === 'reset');
  if (item.type === 'text') return !item.done || Boolean(item.text?.text);
  return Object.hasOwn(KINDS, item.type);
}

/** @extends {Component<{item: Item, version: string, context: SessionContext, actions?: any}, {}>} */
export class ItemView extends Component {
  /** @param {{item: Item, version: string}} next */
  shouldComponentUpdate(next) {
    return next.item !== this.props.item || next.version !== this.props.version;
  }

  render() {
    const { item, context, actions } = this.props;
    const Kind = Object.hasOwn(KINDS, item.type) ? KINDS[item.type] : null;
    if (!Kind) return null;
    const drawChild = (/** @type {Item} */ child) => (isShown(child) ? html`<${ItemView} item=${child} version=${context.version(child)} context=${context} />` : null);
    return html`<${Guard} what="This item" raw=${item}><${Kind} item=${item} context=${context} drawChild=${drawChild} actions=${actions?.(item)} /><//>`;
  }
}
