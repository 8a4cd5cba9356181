/** One's own sessions that are open now, with the device of each, and how they are ended (issue 11). */
import { areas } from '../kit/areas.ts';
import { calls } from '../kit/call.ts';
import { Credit, Place } from '../kit/place.ts';
import { arr, bool, int, nullable, obj, one, str, text, time } from '../kit/schema.ts';
import * as rules from '../rules.ts';

export const deviceKinds = ['desktop', 'mobile', 'tablet', 'tv', 'other'] as const;
/** Answered of one account: the latest. */
export const sessionsShown = 100;

export const OwnSession = obj({
  id: text(36),
  /** the one that asks */
  isCurrent: bool(),
  /** somebody who manages the account acts in its name: from where is not told */
  isProxy: bool(),
  /** browser or program, and system, as it says itself; '': not told */
  device: obj({ browser: text(60), system: text(60), kind: one(deviceKinds) }),
  address: nullable(text(64)),
  /** of the address, as far as the data of places know it; null: nothing */
  place: nullable(Place),
  createdAt: time(),
  /** at most as long ago as an access token lives */
  usedAt: time(),
});

export const sessions = calls(
  { base: '/{area}/account', areas, resource: 'session', auth: 'session' },
  {
    /** `total`: all that are open, also those that are not among them. */
    'GET /sessions': {
      permission: null,
      /** `credits`: whose data say where */
      answer: obj({ sessions: arr(OwnSession, sessionsShown), total: int(), credits: arr(Credit, 20) }),
      errors: ['permissionDenied'],
    },
    /** With it end those that were opened from it. */
    'DELETE /session': {
      permission: null,
      body: obj({ sessionID: str(36).check(rules.zodRule(rules.uuid)) }),
      errors: ['permissionDenied'],
    },
    /** All but the one that asks; also sign-ins that wait for their code, and who acts in one's name. `ended`: how many. */
    'DELETE /sessions': { permission: null, answer: obj({ ended: int() }), errors: ['permissionDenied'] },
  },
);
