/** What is wrong, for people: the findings of health.ts as far as they concern who asks, in the caller's language, with what to do. */
import { calls } from '../kit/call.ts';
import { arr, id, nullable, obj, one, text, time } from '../kit/schema.ts';

export const Trouble = obj({
  /** the check; a page of the handbook tells more of each */
  check: text(40),
  /** tells apart several troubles of one check */
  key: text(100),
  state: one(['warn', 'fail']),
  since: time(),
  sentence: text(1000),
  advice: text(1000),
  /** where it is one node's */
  nodeID: nullable(id()),
});

export const status = calls(
  { base: '/{area}', resource: 'health' },
  {
    'GET /systemHealth': {
      answer: obj({ state: one(['ok', 'warn', 'fail']), troubles: arr(Trouble, 200) }),
      // whoever is signed in is told what concerns it; the inside of the installation is told to its owner alone
      permission: null,
    },
  },
);
