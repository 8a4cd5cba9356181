/**
 * What the kernel says of its window while a visitor connects (§9 "Geneva"): by a small one the visitor's first request comes in several
 * segments, and who reads along sees no whole host name in any. It stands in an nftables table of this node's own, which takes
 * CAP_NET_ADMIN and nothing else; other tables of the machine are not looked at.
 *
 * The scaling of windows (RFC 7323) is left as it is: without it every upload after the first segment would crawl.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { DocumentOf } from '#contract/edge/kinds/index.ts';

export type Geneva = NonNullable<DocumentOf<'node'>['geneva']>;

/** Connections that wait for their first acknowledgement, at most; beyond, the first window alone is small. */
const pendingMost = 65_536;

/** By the folder: several nodes may run on a machine. */
export const tableOf = (data: string): string => `breakwater_${createHash('sha256').update(data).digest('hex').slice(0, 12)}`;

/** Making it anew and filling it is one transaction: at no moment is there half of it. */
const anew = (table: string) => `table inet ${table}\ndelete table inet ${table}\n`;

/**
 * The table as text. `v1`: the window of the SYN-ACK; `v2`: that, and of the first acknowledgement after it.
 * @param ports where visitors come
 */
export function genevaTable(table: string, { version, window }: Geneva, ports: readonly number[]): string {
  const from = `tcp sport { ${ports.join(', ')} }`;
  const synAck = `tcp flags & (syn | ack) == syn | ack ${from}`;
  const sets = [4, 6].map(
    family => `  set pending${family} {
    type ipv${family}_addr . inet_service . inet_service
    size ${pendingMost}
    flags dynamic,timeout
    timeout 10s
  }`,
  );
  // an acknowledgement without data: the header is all there is of it
  const bare = 'tcp flags & (fin | syn | rst | psh | ack) == ack';
  const peer = (family: number) => `ip${family === 4 ? '' : '6'} daddr . tcp dport . tcp sport`;
  const rules =
    version === 'v1'
      ? [`${synAck} tcp window set ${window}`]
      : [
          ...[4, 6].map(family => `${synAck} add @pending${family} { ${peer(family)} }`),
          `${synAck} tcp window set ${window}`,
          ...[4, 6].map(
            family =>
              `${from} ${bare} ${peer(family)} @pending${family} delete @pending${family} { ${peer(family)} } tcp window set ${window}`,
          ),
        ];
  return `${anew(table)}table inet ${table} {
${version === 'v1' ? '' : `${sets.join('\n')}\n`}  chain out {
    type filter hook output priority mangle; policy accept;
    ${rules.join('\n    ')}
  }
}
`;
}

/** @throws a sentence */
function nft(args: readonly string[], input?: string): Promise<string> {
  return new Promise((done, fail) => {
    const child = execFile('nft', args, { timeout: 10_000 }, (error, out, said) => {
      if (!error) return done(out);
      // execFile gives such
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return fail(new Error('the program nft is not installed'));
      if (/not permitted|Permission denied/i.test(said)) return fail(new Error('the right CAP_NET_ADMIN is missing'));
      fail(new Error(said.split('\n', 1)[0]!.slice(0, 200) || error.message));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input ?? '');
  });
}

export class GenevaTable {
  /** Why it is not as it should be; null: it is. */
  problem: string | null = null;
  readonly #table: string;
  readonly #log: (message: string) => void;
  /** What stands there, as far as we know: '' nothing; undefined: an earlier agent may have left one. */
  #stands: string | undefined;
  /** One after the other. */
  #working: Promise<void> = Promise.resolve();

  constructor(data: string, log: (message: string) => void) {
    this.#table = tableOf(data);
    this.#log = log;
  }

  /** @param again looks whether it still stands: somebody may have emptied the machine's ruleset */
  hold(wanted: Geneva | null, ports: readonly number[], again = false): Promise<void> {
    this.#working = this.#working.then(() => this.#take(wanted, ports, again));
    return this.#working;
  }

  /** Nobody listens any more. */
  async end(): Promise<void> {
    await this.#working;
    if (this.#stands) await nft(['-f', '-'], anew(this.#table)).catch(() => {});
  }

  async #take(wanted: Geneva | null, ports: readonly number[], again: boolean): Promise<void> {
    const text = wanted && ports.length ? genevaTable(this.#table, wanted, ports) : '';
    try {
      if (text === this.#stands && !(again && text !== '' && !(await this.#isThere()))) {
        // also where another was wished meanwhile, and could not be had
        this.problem = null;
        return;
      }
      // A node of which nothing is set asks nothing of a machine without nft.
      if (text === '' && this.#stands === undefined && !(await this.#isThere().catch(() => false))) {
        this.#stands = '';
        this.problem = null;
        return;
      }
      await nft(['-f', '-'], text || anew(this.#table));
      this.#stands = text;
      this.problem = null;
      this.#log(
        wanted
          ? `first windows of visitors' connections: ${wanted.window} (${wanted.version})`
          : 'first windows are the kernel’s again',
      );
    } catch (error) {
      const { message } = error as Error; // `nft` throws none else
      if (this.problem !== message) this.#log(`Geneva: ${message}`);
      this.problem = message;
    }
  }

  #isThere(): Promise<boolean> {
    return nft(['list', 'table', 'inet', this.#table]).then(
      () => true,
      (error: Error) => {
        if (/No such file|does not exist/.test(error.message)) return false;
        throw error;
      },
    );
  }
}
