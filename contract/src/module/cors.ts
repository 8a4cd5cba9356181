/** CORS modules (§5 CORS): what pages of other origins may ask of a domain. */
import * as z from 'zod/mini';
import { moduleOf } from '../kit/module.ts';
import { arr, bool, int, one, str } from '../kit/schema.ts';
import { corsMethods, ranges } from '../limits.ts';
import { answer, at, broken } from '../rules/rule.ts';
import * as rules from '../rules.ts';

const header = () => str(64).check(z.regex(/^(?:\*|[!#$%&'*+.^`|~\w-]+)$/, 'headerName'));
export const corsFields = {
  /** `*`, one origin, or with `*.` before its host all origins below that */
  allowOrigin: str(300).check(rules.zodRule(rules.corsOrigin)),
  /** at least one; of nodes' documents it is not asked, for what older releases wrote may have none */
  allowMethods: arr(one(corsMethods), corsMethods.length),
  /** what a request may carry beside the headers that are always allowed; `*`: anything */
  allowHeaders: arr(header(), 50),
  exposeHeaders: arr(header(), 50),
  allowCredentials: bool(),
  /** seconds a browser may remember the answer to its question */
  maxAge: int(ranges.corsMaxAgeSecondsMin, ranges.corsMaxAgeSecondsMax),
};

export const cors = moduleOf({
  type: 'cors',
  resource: 'modules',
  list: '/module/cors',
  one: '/module/cors/{moduleID}',
  assign: '/domains/module/cors',
  idField: 'corsID',
  items: 'modules',
  fields: corsFields,
  defaults: {
    allowMethods: [],
    allowHeaders: [],
    exposeHeaders: [],
    allowCredentials: false,
    maxAge: ranges.corsMaxAgeSecondsMin,
  },
  // browsers take no answer that lets everybody in with their cookies, and with cookies no star for the headers that may be read
  check: item =>
    item.check(
      rules.zodRule({
        name: 'cors',
        check: ({ allowOrigin, allowMethods, exposeHeaders, allowCredentials }) =>
          answer([
            ...at('allowMethods', rules.methodValues.check(allowMethods)),
            ...(allowCredentials && allowOrigin === '*' ? broken('cookiesWithStar', undefined, ['allowCredentials']) : []),
            ...(allowCredentials && exposeHeaders.includes('*') ? broken('headersWithStar', undefined, ['exposeHeaders']) : []),
          ]),
      }),
    ),
});
