/** A real OpenID provider on loopback (npm oidc-provider), and a person who signs in there by its own pages. */
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:http';
// @ts-expect-error -- it has no types of its own
import { Provider } from 'oidc-provider';

export interface OIDC {
  issuer: string;
  client: string;
  secret: string;
  /** whether its people's e-mails are verified */
  isVerified: boolean;
  stop(): Promise<void>;
}

export async function startOIDC(redirects: string[], port = 0): Promise<OIDC> {
  const server: Server = createServer();
  await new Promise<void>(done => server.listen(port, '127.0.0.1', done));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made: OIDC = {
    issuer,
    client: 'breakwater',
    secret: 'a secret of the provider',
    isVerified: true,
    stop: async () => {
      server.closeAllConnections();
      await new Promise(done => server.close(done));
    },
  };
  const provider = new Provider(issuer, {
    clients: [{ client_id: made.client, client_secret: made.secret, redirect_uris: redirects }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    // whoever signs in is called as they type it: an e-mail
    findAccount: (_ctx: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: id, email_verified: made.isVerified, name: `Name of ${id}` }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['only in tests'] },
    features: { devInteractions: { enabled: true } },
  });
  server.on('request', provider.callback());
  return made;
}

/** Signs in at the provider as `login`; answers where it sends the person back to. */
export async function signInThere(url: string, login: string): Promise<URL> {
  const jar = new Map<string, string>();
  const ask = async (at: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, {
      redirect: 'manual',
      headers: { cookie },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    return answer;
  };
  const there = new URL(url).origin;
  let at = url;
  for (let steps = 0; steps < 20; steps++) {
    let answer = await ask(at);
    if (answer.status === 200) {
      const page = await answer.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
      if (!prompt || !action) throw new Error(`no form: ${page.slice(0, 500)}`);
      answer = await ask(new URL(action, at).href, { prompt, login, password: 'any' });
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${at} ${answer.status} ${(await answer.text()).slice(0, 500)}`);
    const next = new URL(location, at);
    if (next.origin !== there) return next;
    at = next.href;
  }
  throw new Error('too many steps');
}
