/** Whether nodes ask the origins of a domain by themselves how they are, and leave out those that do not answer. */
import * as z from 'zod/mini';
import { originCheckLimits as limits, originCheckTypes } from '../limits.ts';
import { int, one, str } from '../kit/schema.ts';
import { at, settingOf } from '../kit/setting.ts';

export const originCheck = settingOf({
  name: 'originCheck',
  fields: {
    /** off: nobody asks; tcp: a connection must stand; http: it must answer, over TLS where it is asked so */
    type: one(originCheckTypes),
    /** what is asked for by http */
    path: str(200).check(z.regex(/^\/[!-~]*$/)),
    /** the status it must answer with; 0: any from 200 to 399 */
    status: int(0, 599),
    /** seconds from one question of a node to its next */
    interval: int(limits.intervalSecondsMin, limits.intervalSecondsMax),
    /** seconds until an answer counts as none */
    timeout: int(1, limits.timeoutSecondsMax),
    /** so many good answers in a row bring back one that is down */
    rise: int(1, limits.inRowMax),
    /** so many bad ones in a row and it is down */
    fall: int(1, limits.inRowMax),
  },
  defaults: { type: 'off', path: '/', status: 0, interval: 10, timeout: 5, rise: 2, fall: 3 },
  levels: { domain: { ...at.domain, path: '/originCheck' } },
  edge: 'domain',
});
