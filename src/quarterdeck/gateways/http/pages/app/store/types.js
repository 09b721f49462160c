/**
 * Shapes that the host sends, as far as the page reads them. The host's own description is /openapi.json.
 *
 * @typedef {{text?: string, tail?: string, left_out?: number}} Kept
 * @typedef {{old_start: number, old_lines: number, new_start: number, new_lines: number, lines: string[]}} Hunk
 * @typedef {{path: string, kind: string, hunks: Hunk[], added?: number, removed?: number, numbered?: boolean, left_out?: number, note?: string}} FileDiff
 * @typedef {{id: string, text: string, status?: string, doing?: string}} PlanEntry
 * @typedef {{tokens?: number, window?: number, model?: string}} Context
 *
 * @typedef {{type: string, id: string, at: number, parent_id?: string | null, [field: string]: any}} Item
 * @typedef {{type: string, at: number, [field: string]: any}} TimelineEvent
 * @typedef {{session: string, seq: number, at: number, events: TimelineEvent[]}} Frame
 * @typedef {{session: string, after_seq: number, events: TimelineEvent[]}} Preview
 * @typedef {{id: string, status: string, [field: string]: any}} Task
 *
 * @typedef {{input?: number, output?: number, cache_read?: number, cache_write?: number}} TokenCounts
 * @typedef {{id: string, state: string, state_since: string, cwd: string, created_at: string, last_activity_at: string,
 *   seq: number, epoch: string, agent?: string, name?: string, tags?: string[], state_reason?: string, state_until?: string,
 *   model?: string, permission_mode?: string, cli_version?: string, parent_id?: string, pending_approvals?: number,
 *   cost_usd?: string, tokens?: TokenCounts, budget_usd?: string, current?: string, worktree?: string, archived?: boolean}} Session
 * @typedef {{id: string, request_id: string, session_id: string, kind: string, state: string, asked_at: string, tool?: string,
 *   input?: Record<string, any>, summary?: string, diffs?: FileDiff[], risk?: string, reason?: string, suggestions?: any[],
 *   questions?: Question[], plan?: string, replaces?: string, decided_at?: string, decided_by?: {kind: string, name?: string},
 *   via?: string, decision?: Record<string, any>, waited_s?: number}} Approval
 * @typedef {{text: string, header?: string, several?: boolean, choices?: {label: string, description?: string, preview?: string}[]}} Question
 * @typedef {{id: string, content: string | any[], state: string, priority?: string, not_before?: string, by?: string}} Prompt
 */

export {};
