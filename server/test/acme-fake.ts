/** An authority of tests that speaks ACME (RFC 8555) over https, keeps what it promised, and says whatever a test wants it to say instead. */
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { alternativeNames, der, ecdsaWithSha256, oid, sequence } from '#host/der.ts';
import { authority } from '#system/authority.ts';

const tls = authority();
const own = tls.issue(['127.0.0.1']);
const signing = createPrivateKey(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
);
const keyIdentifier = Buffer.from('0123456789abcdef0123456789abcdef01234567', 'hex');
const nameOf = (name: string) => sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
const time = (date: Date) => der(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
/** The public key of P-256 in a request. */
function keyOf(request: Buffer): Buffer {
  const at = request.indexOf(Buffer.from('3059301306072a8648ce3d0201', 'hex'));
  return request.subarray(at, at + 91);
}
function certificateOf(serial: Buffer, request: Buffer, names: readonly string[], [from, until]: readonly [Date, Date]): string {
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ecdsaWithSha256,
    nameOf('Fake Authority'),
    sequence(time(from), time(until)),
    nameOf('leaf'),
    keyOf(request),
    der(0xa3, sequence(alternativeNames(names), sequence(oid('551d23'), der(0x04, sequence(der(0x80, keyIdentifier)))))),
  );
  const whole = sequence(body, ecdsaWithSha256, der(0x03, Buffer.from([0]), sign('sha256', body, signing)));
  const lines = whole.toString('base64').match(/.{1,64}/g)!;
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

export interface Said {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
}
/** A problem document. */
export const problem = (type: string, detail: string, status = 400, headers: Record<string, string> = {}): Said => ({
  status,
  headers,
  body: { type: `urn:ietf:params:acme:error:${type}`, detail },
});
export type What =
  | 'directory'
  | 'nonce'
  | 'account'
  | 'newOrder'
  | 'order'
  | 'authorization'
  | 'deactivate'
  | 'challenge'
  | 'finalize'
  | 'certificate'
  | 'renewalInfo';
interface Proof {
  name: string;
  status: 'pending' | 'valid' | 'deactivated';
}
interface Order {
  name: string;
  proof: number;
  request?: Buffer;
}
export const day = 86_400_000;

export class FakeAuthority {
  readonly ca = tls.root;
  directory = '';
  /** what was asked, in its order */
  readonly asked: { what: What; name: string }[] = [];
  accounts = 0;
  /** answers in the place of the authority; undefined: it answers itself */
  says: (what: What, name: string) => Said | undefined | Promise<Said | undefined> = () => undefined;
  /** from when until when what it issues is good */
  validity = (_name: string): [Date, Date] => [new Date(Date.now() - 3_600_000), new Date(Date.now() + 90 * day)];
  names = (name: string) => [name];
  /** when it wants a certificate renewed; undefined: its directory says nothing of renewals */
  window: ((name: string) => [Date, Date]) | undefined;
  /** what orders said they replace */
  readonly replaced: { name: string; id: string }[] = [];
  readonly #issued = new Map<string, string>();
  readonly #known = new Set<string>();
  readonly #proofs: Proof[] = [];
  readonly #orders: Order[] = [];
  readonly #server = https.createServer({ key: own.key, cert: own.chain }, (request, answer) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', async () => {
      const { status = 200, headers, body = {} } = await this.#answer(request.url!, Buffer.concat(parts).toString());
      answer.writeHead(status, { 'replay-nonce': randomBytes(12).toString('base64url'), ...headers });
      answer.end(typeof body === 'string' ? body : JSON.stringify(body));
    });
    // whoever no longer waits is told nothing
    request.on('error', () => {});
  });

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.directory = `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/directory`;
    return this;
  }
  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
  /** How often this was asked, of one name or of all. */
  count(what: What, name?: string): number {
    return this.asked.filter(one => one.what === what && (name === undefined || one.name === name)).length;
  }
  /** The last certificate of a name, as orders that take its place call it. */
  idOf(name: string): string | undefined {
    return [...this.#issued].findLast(([, whose]) => whose === name)?.[0];
  }
  forgetAccounts(): void {
    this.#known.clear();
  }

  #at(path: string): string {
    return this.directory.replace('/directory', path);
  }

  async #answer(path: string, text: string): Promise<Said> {
    const [, kind = '', number = ''] = path.split('/');
    const sent = text ? (JSON.parse(text) as { protected: string; payload: string }) : undefined;
    const part = (value: string) => (value ? JSON.parse(Buffer.from(value, 'base64url').toString()) : undefined);
    const payload = part(sent?.payload ?? '');
    const order = this.#orders[Number(number)];
    const proof = this.#proofs[Number(number)];
    const isOrder = ['order', 'finalize', 'certificate'].includes(kind);
    const what = (kind === 'authorization' && payload?.status === 'deactivated' ? 'deactivate' : kind) as What;
    const whose = kind === 'renewalInfo' ? this.#issued.get(number) : undefined;
    const name: string = whose ?? payload?.identifiers?.[0].value ?? (isOrder ? order?.name : proof?.name) ?? '';
    this.asked.push({ what, name });
    if (payload?.replaces) this.replaced.push({ name, id: payload.replaces });
    const instead = await this.says(what, name);
    if (instead) return instead;
    if (sent && what !== 'account' && !this.#known.has(part(sent.protected).kid))
      return problem('accountDoesNotExist', 'Account not found');
    return this.#itself(what, number, payload, order, proof);
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- whatever a client sends
  #itself(what: What, number: string, payload: any, order: Order | undefined, proof: Proof | undefined): Said {
    switch (what) {
      case 'directory':
        return {
          body: {
            newNonce: this.#at('/nonce'),
            newAccount: this.#at('/account'),
            newOrder: this.#at('/newOrder'),
            ...(this.window ? { renewalInfo: this.#at('/renewalInfo') } : {}),
          },
        };
      case 'renewalInfo': {
        const name = this.#issued.get(number);
        if (name === undefined) return problem('malformed', 'no such certificate', 404);
        const [start, end] = this.window!(name);
        return { headers: { 'retry-after': '21600' }, body: { suggestedWindow: { start, end } } };
      }
      case 'nonce':
        return { body: '' };
      case 'account': {
        const location = this.#at(`/account/${++this.accounts}`);
        this.#known.add(location);
        return { status: 201, headers: { location }, body: { status: 'valid' } };
      }
      case 'newOrder': {
        const name = payload.identifiers[0].value as string;
        // who proved a name lately need not do it again
        let known = this.#proofs.findIndex(one => one.name === name && one.status === 'valid');
        if (known < 0) known = this.#proofs.push({ name, status: 'pending' }) - 1;
        const made = this.#orders.push({ name, proof: known }) - 1;
        return { status: 201, headers: { location: this.#at(`/order/${made}`) }, body: this.#told(made) };
      }
      case 'order':
        return { body: this.#told(Number(number)) };
      case 'authorization':
      case 'deactivate':
        if (what === 'deactivate') proof!.status = 'deactivated';
        return { body: { status: proof!.status, challenges: [this.#challenge(number, proof!)] } };
      case 'challenge':
        proof!.status = 'valid';
        return { body: this.#challenge(number, proof!) };
      case 'finalize':
        order!.request = Buffer.from(payload.csr, 'base64url');
        return { body: this.#told(Number(number)) };
      case 'certificate': {
        const serial = Buffer.from([0x00, 0xa1, ...randomBytes(14)]);
        this.#issued.set(`${keyIdentifier.toString('base64url')}.${serial.toString('base64url')}`, order!.name);
        return { body: certificateOf(serial, order!.request!, this.names(order!.name), this.validity(order!.name)) };
      }
    }
  }
  #challenge(number: string, { name, status }: Proof) {
    const token = Buffer.from(name.padEnd(24)).toString('base64url').slice(0, 200);
    return { type: 'http-01', url: this.#at(`/challenge/${number}`), status, token };
  }
  #told(number: number) {
    const { proof, request } = this.#orders[number]!;
    const status = request ? 'valid' : this.#proofs[proof]!.status === 'valid' ? 'ready' : 'pending';
    return {
      status,
      authorizations: [this.#at(`/authorization/${proof}`)],
      finalize: this.#at(`/finalize/${number}`),
      ...(request ? { certificate: this.#at(`/certificate/${number}`) } : {}),
    };
  }
}
