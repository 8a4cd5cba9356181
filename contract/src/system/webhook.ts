/**
 * Events by HTTP, of an operator and of a customer (issue 11). A POST with a body of JSON, and three headers: `Breakwater-Delivery`, the same
 * each time one event is told; `Breakwater-Timestamp`, seconds since 1970; `Breakwater-Signature`, `v1=` and the HMAC-SHA256 (RFC 2104) in
 * hexadecimal digits, by the secret, of the timestamp, a full stop and the body. Whoever receives it refuses an old timestamp.
 */
import { calls } from '../kit/call.ts';
import { arr, bool, id, int, nullable, obj, one, text, time } from '../kit/schema.ts';
import { secret, told } from '../kit/secret.ts';
import { deliveryStates, noticeKinds, webhookKinds, webhookLimits } from '../limits.ts';
import * as rules from '../rules.ts';

const fields = {
  enable: bool(),
  url: text(500).check(rules.zodRule(rules.webhookURL)),
  secret: secret(webhookLimits.secretMax, rules.zodRule(rules.webhookSecret)),
  /** of which it is told; none: of all */
  kinds: arr(one(noticeKinds), noticeKinds.length),
};
const Delivery = obj({
  id: id(),
  kind: one(webhookKinds),
  state: one(deliveryStates),
  attempts: int(),
  /** status of the latest answer, and how its body begins */
  status: nullable(int()),
  answer: nullable(text(200)),
  /** why there was none */
  problem: nullable(text(300)),
  createdAt: time(),
  sentAt: nullable(time()),
  nextAt: nullable(time()),
});

export const webhook = calls(
  { base: '/{area}/setting', areas: ['user', 'client'], resource: 'webhook' },
  {
    'GET /webhook': {
      /** `deliveries`: the newest first */
      answer: obj({ ...told(fields), version: int(), deliveries: arr(Delivery, webhookLimits.shownMax) }),
    },
    /** By a person alone: it tells on when a token has ended. Where it goes, by which secret, and of more than before, the root account says. */
    'PUT /webhook': { auth: 'session', body: obj(fields) },
    /** An event `test`, told as any other: what became of it stands among the deliveries. */
    'POST /webhook/test': { permission: 'webhook.edit', audit: false, answer: obj({ id: id() }) },
  },
);
