/** The views that are seldom the first one: they are fetched together when one of them is opened. */

export { Audit } from './audit.js';
export { Policy } from './policy.js';
export { Settings } from './settings.js';
export { Usage } from './usage.js';
