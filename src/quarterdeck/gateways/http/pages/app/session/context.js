/** What an item needs to know of the session around it. */

/**
 * @typedef {import('../store/types.js').Item} Item
 * @typedef {import('../store/session.js').Picture} Picture
 */

export class SessionContext {
  /** @param {Picture} picture @param {Map<string, import('../store/types.js').Approval>} approvals By the request's id. */
  constructor(picture, approvals) {
    this.picture = picture;
    this.approvals = approvals;
  }

  /** The conversation of a sub-agent. @param {string} id @returns {Item[]} */
  children(id) {
    return this.picture.children.get(id) ?? [];
  }

  /** @param {string} id */
  task(id) {
    return this.picture.timeline.tasks.get(id);
  }

  /** @param {string} requestId */
  approval(requestId) {
    return this.approvals.get(requestId);
  }

  /** Changes whenever something about the item changes that is not in the item. @param {Item} item @returns {string} */
  version(item) {
    if (item.type === 'tool_call') {
      const task = item.task_id ? this.task(item.task_id) : undefined;
      const inside = this.children(item.id);
      const last = inside.at(-1);
      return `${inside.length} ${inside.map((child) => `${child.status ?? ''}${child.done ?? ''}${this.version(child)}`).join()} ${last?.pieces?.length ?? ''} ${task?.doing ?? ''} ${task?.status ?? ''} ${task?.output ? 'o' : ''}`;
    }
    return this.approvals.get(item.id)?.state ?? '';
  }
}
