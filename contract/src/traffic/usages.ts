/**
 * What customers used of products, month by month of their operator's calendar: the bytes to visitors that the charts show (type 2). Kept
 * for years, whatever becomes of the lines it was counted from.
 */
import { calls } from '../kit/call.ts';
import { arr, big, bool, id, int, list, nullable, num, obj, one, opt, page, text, time } from '../kit/schema.ts';
import { sellTypes, trafficExceededActions } from '../limits.ts';
import { trafficStates } from '../states.ts';

const usage = {
  id: id(),
  userID: id(),
  userEmail: text(254),
  productID: id(),
  productName: text(64),
  year: int(),
  month: int(),
  startTime: time(),
  endTime: time(),
  bytes: big(),
  /** of its days, the first one first: together they are `bytes`. Empty: nothing was counted yet */
  days: arr(big(), 31),
  /** what the product held in that month, and extra plans beside it; `planBytes`: both; 0: unlimited */
  baseBytes: big(),
  extraBytes: big(),
  planBytes: big(),
  action: one(trafficExceededActions),
  state: one(trafficStates),
  /** up to when lines are counted; null: not yet */
  countedAt: nullable(time()),
  isCurrent: bool(),
  /** late lines may still come, or the month is not over: what is billed is billed of a month that is not */
  isOpen: bool(),
};
const filters = {
  year: opt(int(1970, 9999)),
  month: opt(int(1, 12)),
  states: opt(arr(one(trafficStates), trafficStates.length)),
};

export const monthlyUsages = calls(
  { base: '/client/traffic', areas: ['client'], resource: 'traffic' },
  {
    'GET /monthlyUsages': {
      query: list({ ...filters, userID: opt(id()), productID: opt(id()) }),
      answer: page(
        obj({
          ...usage,
          sellType: one(sellTypes),
          trafficPrice: num(0, 1_000_000),
          /** what is billed by usage, in the operator's currency; null: it is sold as a plan */
          amount: nullable(num(0, Number.MAX_SAFE_INTEGER)),
        }),
      ),
    },
  },
);
export const ownMonthlyUsages = calls(
  { base: '/user/traffic', areas: ['user'], resource: 'traffic' },
  { 'GET /monthlyUsages': { query: list(filters), answer: page(obj(usage)) } },
);
