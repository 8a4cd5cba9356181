/**
 * Extra traffic plans (§3): so many bytes that a customer may use of a product once, between two times, beyond what the product holds in a
 * month. They are taken of the plan that ends first.
 */
import { calls } from '../kit/call.ts';
import { big, id, ids, int, list, obj, one, opt, page, partial, record, str, text, time } from '../kit/schema.ts';
import { trafficBounds } from '../limits.ts';
import * as rules from '../rules.ts';
import { trafficPlanStates } from '../states.ts';

const sold = {
  bytes: int(1, trafficBounds.bytesMax),
  startTime: time(),
  endTime: time(),
};
const changed = { ...sold, memo: text(255) };
/** One, whole. */
export const trafficPlanBody = obj({ userID: id(), productID: id(), ...changed, memo: opt(changed.memo) }).check(
  rules.zodRule(rules.trafficPlanSpan),
);
const plan = {
  ...record,
  userID: id(),
  userEmail: text(254),
  productID: id(),
  productName: text(64),
  ...sold,
  /** taken of it so far */
  usedBytes: big(),
  /** it has not begun, it holds, all of it is taken, it has ended */
  state: one(trafficPlanStates),
};

export const extraTrafficPlans = calls(
  { base: '/client', resource: 'traffic' },
  {
    'GET /extraTrafficPlans': {
      query: list({ userID: opt(id()), productID: opt(id()), productName: opt(str(64)) }),
      answer: page(obj({ ...plan, memo: changed.memo })),
    },
    'POST /extraTrafficPlan': { body: trafficPlanBody, answer: obj({ ids: ids(1) }) },
    /** whose it is and for which product stays: what was taken of it was that */
    'PUT /extraTrafficPlan': { body: obj({ id: id(), ...partial(changed) }).check(rules.zodRule(rules.trafficPlanSpan)) },
    'DELETE /extraTrafficPlans': { body: obj({ ids: ids() }), errors: ['multiple'] },
  },
);
/** The memo is the operator's own. */
export const ownTrafficPlans = calls(
  { base: '/user', areas: ['user'], resource: 'traffic' },
  { 'GET /extraTrafficPlans': { query: list({ productName: opt(str(64)) }), answer: page(obj(plan)) } },
);
