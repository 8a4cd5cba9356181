/**
 * APIs of DNS providers, as far as we ask them: each checks the signature or the token of what it really received, keeps records as its
 * provider does, and answers in its words. Two zones: `one.test` and `deep.one.test`.
 */
import { once } from 'node:events';
import http from 'node:http';
import { freePort } from '#server/store/engine-process.ts';
import { aliyun } from './dns-fakes/aliyun.ts';
import { cloudflare } from './dns-fakes/cloudflare.ts';
import { dnspod } from './dns-fakes/dnspod.ts';
import { type Answer, type Asked, type FakeRecord, zones } from './dns-fakes/kind.ts';
import { route53 } from './dns-fakes/route53.ts';

export { type FakeRecord, keyID, secret } from './dns-fakes/kind.ts';

const fakes = { cloudflare, dnspod, route53, aliyun };
export type FakeProvider = keyof typeof fakes;
export interface Fake {
  base: string;
  /** how it calls its zones: of all fakes of the process */
  zones: typeof zones;
  records: FakeRecord[];
  /** of one page of records, however many are asked for */
  pageMost: number;
  isReadOnly: boolean;
  /** what it says to everything, until it is told otherwise; `silence`: nothing, `half`: the first half of what it would, `late`: nothing of what it did */
  always: Answer | 'silence' | 'half' | 'late' | undefined;
  /** what it says to the next questions instead */
  next: Answer[];
  /** before it answers a question of this kind */
  before: ((asked: Asked) => void) | undefined;
  /** questions it was asked, limits and faults included */
  asked: number;
  stop(): void;
}

export async function startFake(provider: FakeProvider): Promise<Fake> {
  const server = http.createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', part => (body += part));
    request.on('end', () => {
      fake.asked++;
      const asked: Asked = {
        method: request.method!,
        url: new URL(request.url!, 'http://fake.test'),
        headers: request.headers as Record<string, string>,
        body,
        records: fake.records,
        pageMost: fake.pageMost,
        isReadOnly: fake.isReadOnly,
      };
      fake.before?.(asked);
      const { always } = fake;
      if (always === 'silence') return;
      const told = fake.next.shift() ?? (always === 'half' || always === 'late' ? undefined : always);
      const { status = 200, headers = {}, body: said } = told ?? fakes[provider](asked);
      if (always === 'late') return;
      const text = typeof said === 'string' ? said : JSON.stringify(said);
      const bytes = Buffer.from(text);
      answer.writeHead(status, { ...headers, 'content-length': bytes.length });
      if (always !== 'half') answer.end(bytes);
      else answer.write(bytes.subarray(0, bytes.length / 2), () => answer.destroy());
    });
  });
  const fake: Fake = {
    base: '',
    zones,
    records: [],
    pageMost: 3000,
    isReadOnly: false,
    always: undefined,
    next: [],
    before: undefined,
    asked: 0,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  const port = await freePort(12_000, 19_999);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // it keeps nobody from ending
  server.unref();
  fake.base = `http://127.0.0.1:${port}${provider === 'cloudflare' ? '/client/v4' : ''}`;
  return fake;
}
