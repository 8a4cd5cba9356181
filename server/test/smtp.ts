/** A real mail server (npm smtp-server) that keeps what it was sent. */
import { readFileSync } from 'node:fs';
import { SMTPServer } from 'smtp-server';
import { freePort } from '#server/store/engine-process.ts';
import { certificates } from '../../system/certificates.ts';

export interface Received {
  from: string;
  to: string[];
  source: string;
  /** it came encrypted */
  isSecure: boolean;
  user: string | undefined;
}
export interface Smtp {
  port: number;
  ca: string;
  mails: Received[];
  /** what it does with the next mails: false takes them, else its answer */
  refuse: { code: number; text: string; at: 'rcpt' | 'data' } | false;
  password: string;
  /** the mail to somebody that holds this, as soon as it is there; it is taken out */
  next(to: string, holds?: string): Promise<Received>;
  stop(): Promise<void>;
  begin(): Promise<void>;
}

/** What `look` finds, as soon as it is there. */
export async function until<T>(look: () => T | undefined | Promise<T | undefined>, what: string, limitMs = 20_000): Promise<T> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`there is still not ${what}`);
    await new Promise(done => setTimeout(done, 20));
  }
}

/** `startTLS` false: it offers no encryption */
export async function startSmtp({ startTLS = true, port = 0 } = {}): Promise<Smtp> {
  const tls = certificates();
  const state: Smtp = {
    port: port || (await freePort(12_000, 19_999)),
    ca: tls.ca,
    mails: [],
    refuse: false,
    password: 'smtp secret',
    next: (to, holds = '') =>
      until(() => {
        const at = state.mails.findIndex(mail => mail.to.includes(to) && textOf(mail).includes(holds));
        return at < 0 ? undefined : state.mails.splice(at, 1)[0];
      }, `a mail to ${to} (${holds})`),
    stop: () => new Promise(done => server.close(() => done())),
    begin: async () => {
      server = make();
      await new Promise<void>(done => server.listen(state.port, '0.0.0.0', done));
    },
  };
  const refusal = (at: 'rcpt' | 'data') =>
    state.refuse && state.refuse.at === at
      ? Object.assign(new Error(state.refuse.text), { responseCode: state.refuse.code })
      : null;
  const make = () => {
    const made = new SMTPServer({
      key: readFileSync(tls.key),
      cert: readFileSync(tls.cert),
      authOptional: true,
      allowInsecureAuth: true,
      hideSTARTTLS: !startTLS,
      disabledCommands: startTLS ? [] : ['STARTTLS'],
      closeTimeout: 200,
      onAuth: (auth, _session, done) =>
        auth.password === state.password ? done(null, { user: auth.username }) : done(new Error('no such user or password')),
      onRcptTo: (_address, _session, done) => done(refusal('rcpt')),
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream.on('data', (part: Buffer) => void parts.push(part));
        stream.on('end', () => {
          const failure = refusal('data');
          if (!failure)
            state.mails.push({
              from: session.envelope.mailFrom ? session.envelope.mailFrom.address : '',
              to: session.envelope.rcptTo.map(one => one.address),
              source: Buffer.concat(parts).toString(),
              isSecure: session.secure,
              user: session.user === undefined ? undefined : String(session.user),
            });
          done(failure);
        });
      },
    });
    made.on('error', () => {});
    return made;
  };
  let server = make();
  await state.begin();
  return state;
}

/** The plain text of a mail, decoded. */
export function textOf({ source }: Received): string {
  const part = /Content-Type: text\/plain[^]*?\r\n\r\n([^]*?)\r\n--/.exec(source);
  if (!part) return source;
  const head = part[0].slice(0, part[0].indexOf('\r\n\r\n'));
  return decoded(part[1]!, head);
}
export function htmlOf({ source }: Received): string {
  const part = /Content-Type: text\/html[^]*?\r\n\r\n([^]*?)\r\n--/.exec(source)!;
  return decoded(part[1]!, part[0].slice(0, part[0].indexOf('\r\n\r\n')));
}
function decoded(body: string, head: string): string {
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString();
  if (!/quoted-printable/i.test(head)) return body;
  const bytes = body
    .replaceAll('=\r\n', '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}
