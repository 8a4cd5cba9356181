/** What nginx writes down, as its zone says it (contract: system/node-log.ts), as facts of its configuration. Pure. */
import type { DocumentOf } from '#contract/edge/kinds/index.ts';
import type { NodeFacts } from './render/nginx.ts';

export const ofLog = (log: DocumentOf<'zone'>['log']): Pick<NodeFacts, 'errorLevel' | 'sampling'> =>
  log ? { errorLevel: log.level, sampling: log.sampling } : {};
