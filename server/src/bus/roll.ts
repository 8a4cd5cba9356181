/**
 * Whom the door expects: the open join tokens, and the keys of nodes. It is asked about callers whose address or token is held up, thousands
 * in a second perhaps, so the database is read once in a while however many ask, and no more signatures are checked than a server has
 * time for. It lets nobody in: who is expected is judged as anybody is (join.ts).
 */
import type { Queryable } from '../compile/load.ts';
import { neighbourhoods } from '../kit/networks.ts';
import type { JoinBody, RenewBody } from '../kit/services.ts';
import { joinTokenHash, renewalText, renewalWindowMs, skewMs } from './join-token.ts';
import { isSignedBy } from './nkeys.ts';

/** How old what was read may be. A token that is younger is told to come back. */
const freshMs = { tokens: 1000, nodes: 5000 } as const;
/** The newest: a flood of tokens or nodes that an operator makes is no flood of memory. */
const most = { tokens: 20_000, nodes: 100_000 } as const;
/** Signatures checked, at 0.1 ms each: in a second for as long as it likes, and at once. */
const checks = { perSecond: 200, burst: 600 } as const;
/** Of those for one network, so that who knocks from one leaves the others theirs; and how many networks are remembered. */
const checksOfOne = { perSecond: 20, burst: 60 } as const;
const networksMost = 10_000;

/** So many in a second for as long as it likes, and at once. */
class Budget {
  readonly #limits: typeof checks | typeof checksOfOne;
  #left: number;
  #at: number;

  constructor(limits: typeof checks | typeof checksOfOne, now: number) {
    this.#limits = limits;
    this.#left = limits.burst;
    this.#at = now;
  }

  take(now: number): boolean {
    const { burst, perSecond } = this.#limits;
    this.#left = Math.min(burst, this.#left + ((now - this.#at) / 1000) * perSecond);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}

export class Roll {
  /** hash of a token in hex → the key that used it in the last hour; null: nobody did */
  readonly #tokens: () => Promise<Map<string, string | null>>;
  readonly #keys: () => Promise<Map<number, string>>;
  readonly #now: () => number;
  readonly #all: Budget;
  /** network → its own; the one asked longest ago first */
  readonly #networks = new Map<string, Budget>();

  constructor(db: Queryable, now = () => performance.now()) {
    this.#now = now;
    this.#all = new Budget(checks, now());
    this.#tokens = fresh(freshMs.tokens, now, async () => {
      const { rows } = await db.query(
        `select encode(t.hash, 'hex') as hash, n."publicKey" from "joinToken" t left join node n on n.id = t."nodeID"
         where (t."usedAt" is null and t."expiredAt" > clock_timestamp()) or t."usedAt" > clock_timestamp() - interval '1 hour'
         order by t."expiredAt" desc limit $1`,
        [most.tokens],
      );
      return new Map((rows as { hash: string; publicKey: string | null }[]).map(({ hash, publicKey }) => [hash, publicKey]));
    });
    this.#keys = fresh(freshMs.nodes, now, async () => {
      const { rows } = await db.query(
        `select id, "publicKey" from node where "deletedAt" is null and "publicKey" is not null order by id desc limit $1`,
        [most.nodes],
      );
      return new Map((rows as { id: string; publicKey: string }[]).map(({ id, publicKey }) => [Number(id), publicKey]));
    });
  }

  /** Whether the token is open, or this key used it a moment ago: its answer may have been lost. */
  async isExpected({ token, publicKey }: JoinBody): Promise<boolean> {
    const user = (await this.#tokens()).get(joinTokenHash(token).toString('hex'));
    return user === null || user === publicKey;
  }

  /** Whether the node signed for it. @param ip where it is asked from */
  async isOurs({ nodeID, time, boxKey, memberKey, addresses, signature }: RenewBody, ip: string): Promise<boolean> {
    if (!(skewMs(time) <= renewalWindowMs)) return false;
    const key = (await this.#keys()).get(nodeID);
    const text = renewalText(nodeID, time, boxKey, memberKey, addresses);
    return key !== undefined && this.#mayCheck(ip) && isSignedBy(key, text, signature);
  }

  #mayCheck(ip: string): boolean {
    const now = this.#now();
    const [network] = neighbourhoods(ip);
    const own = this.#networks.get(network) ?? new Budget(checksOfOne, now);
    this.#networks.delete(network);
    this.#networks.set(network, own);
    if (this.#networks.size > networksMost) this.#networks.delete(this.#networks.keys().next().value!);
    return own.take(now) && this.#all.take(now);
  }
}

/** What `read` answered, at most so old, also when it failed; one reads for all who ask meanwhile. */
function fresh<T>(ms: number, now: () => number, read: () => Promise<T>): () => Promise<T> {
  let last: Promise<T> | undefined;
  let until = 0;
  return () => {
    if (last && now() < until) return last;
    until = Infinity;
    last = read().finally(() => (until = now() + ms));
    return last;
  };
}
