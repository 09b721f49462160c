/** Small drawings, each a path of ours. */

import { h } from '../lib.js';

/** @type {Record<string, string>} */
const PATHS = {
  inbox: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5l2-6h7l2 6v3.5h-11z',
  sessions: 'M2.5 3.5h11v9h-11zM5 6.5l1.7 1.5L5 9.5M8.5 10h2.5',
  usage: 'M2.5 13.5h11M4.5 13V9.500M8 13V5.500M11.500 13V2.500',
  policy: 'M8 2l5 1.800v3.700c0 3-2 5.200-5 6.500-3-1.300-5-3.500-5-6.500V3.800zM5.800 8l1.600 1.600 2.900-3.200',
  audit: 'M3.500 2.500h9v11h-9zM6 5.500h4M6 8h4M6 10.500h2.500',
  settings: 'M2.500 4.500h6M11.500 4.500h2M2.500 11.500h2M7.500 11.500h6M10 3v3M6 10v3',
  helm: 'M8 4.200a3.800 3.800 0 100 7.600 3.800 3.800 0 000-7.600zM8 1.500v13M1.500 8h13M3.400 3.400l9.200 9.200M12.600 3.400l-9.200 9.200',
  back: 'M9.500 3.500L5 8l4.500 4.500',
};

/** @param {{name: string}} props */
export function Icon({ name }) {
  return h('svg', { class: 'icon', viewBox: '0 0 16 16', width: 16, height: 16, 'aria-hidden': 'true' }, h('path', { d: PATHS[name] ?? '' }));
}
