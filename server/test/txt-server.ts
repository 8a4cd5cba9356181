/** A name server that answers TXT questions (RFC 1035 §4) as a test says, or not at all. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { proofOf } from '#server/kit/name-proof.ts';
import type { Services } from '#server/kit/services.ts';

/** The strings of one record are one text; what is given as one string has one. */
export type Texts = readonly (string | readonly string[])[];
const rcodes = { silent: -1, servfail: 2, refused: 5 } as const;

export class TxtServer {
  /** By names in lower case. `*.name` answers for every name below that has none of its own. */
  readonly records = new Map<string, Texts | keyof typeof rcodes>();
  /** Names that were asked. */
  readonly asked: string[] = [];
  /** Where `records` has nothing. */
  otherwise: (name: string) => Texts | undefined = () => undefined;
  readonly #socket = createSocket('udp4');

  static async start(): Promise<TxtServer> {
    const server = new TxtServer();
    server.#socket.on('message', (query, from) => {
      const answer = server.#answer(query);
      if (answer) server.#socket.send(answer, from.port, from.address);
    });
    server.#socket.bind(0, '127.0.0.1');
    await once(server.#socket, 'listening');
    return server;
  }

  /** Every name is shown to be each of these accounts'. */
  provesTo(services: Pick<Services, 'sealing'>, ...accountIDs: readonly number[]): void {
    this.otherwise = name => accountIDs.map(id => proofOf(services, id, name.replace('_breakwater.', '')).value);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  stop(): void {
    this.#socket.close();
  }

  #answer(query: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let at = 12;
    for (; query[at]; at += query[at]! + 1) labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!).toLowerCase());
    const name = labels.join('.');
    this.asked.push(name);
    const wildcards = labels.map((_, index) => `*.${labels.slice(index + 1).join('.')}`);
    const key = [name, ...wildcards].find(one => this.records.has(one));
    const found = key === undefined ? this.otherwise(name) : this.records.get(key);
    if (found === 'silent') return undefined;
    const texts = typeof found === 'string' ? undefined : found;
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8180 + (typeof found === 'string' ? rcodes[found] : texts ? 0 : 3), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(texts?.length ?? 0, 6);
    header.writeUInt32BE(0, 8);
    const answers = (texts ?? []).map(text => {
      const strings = [text].flat().map(one => Buffer.concat([Buffer.from([Buffer.byteLength(one)]), Buffer.from(one)]));
      const bytes = Buffer.concat(strings);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(bytes.length);
      return Buffer.concat([Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 1]), length, bytes]);
    });
    return Buffer.concat([header, query.subarray(12, at + 5), ...answers]);
  }
}
