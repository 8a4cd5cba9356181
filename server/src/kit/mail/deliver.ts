/** One mail to one server (RFC 5321), connected to by the address policy alone. */
import { createTransport } from 'nodemailer';
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { mailLimits, type mailSecurities } from '#contract/limits.ts';
import { connectOut, OutboundError } from '../outbound.ts';
import { plainText } from '../text.ts';
import type { Rendered } from './render.ts';

export interface MailServer {
  host: string;
  port: number;
  security: (typeof mailSecurities)[number];
  username: string;
  password: string | null;
  fromAddress: string;
  fromName: string;
}
export interface Delivery {
  policy: AddressPolicy;
  /** PEM that is trusted instead of the machine's authorities */
  ca?: string | undefined;
  /** the program ends */
  signal?: AbortSignal | undefined;
}

export class MailProblem extends Error {
  override name = 'MailProblem';
  /** `said`: the server's own words; else what kept us from it */
  readonly from: 'server' | 'way';
  /** trying again changes nothing: the server takes no mail for this address */
  readonly isFinal: boolean;
  constructor(from: 'server' | 'way', message: string, isFinal = false) {
    super(plainText(message, 300));
    this.from = from;
    this.isFinal = isFinal;
  }
}

/** @throws MailProblem; what it says holds no password, and nothing of the mail */
export async function deliver(
  server: MailServer,
  mail: Rendered & { to: string; messageID: string },
  { policy, ca, signal }: Delivery,
): Promise<void> {
  const { host, port, security, username, password } = server;
  const timeoutMs = mailLimits.timeoutSeconds * 1000;
  const transport = createTransport({
    host,
    port,
    secure: security === 'tls',
    // without it a server in between that offers no encryption would be told the password
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username ? { auth: { user: username, pass: password ?? '' } } : {}),
    ...(ca ? { tls: { ca } } : {}),
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    // a mail is what we wrote: nothing in it names a file or an address to fetch
    disableFileAccess: true,
    disableUrlAccess: true,
    getSocket: (_options, done) => {
      connectOut(host, port, { policy, timeoutMs }).then(
        connection => done(null, { connection }),
        (error: Error) => done(error, false),
      );
    },
  });
  const late = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]);
  try {
    await Promise.race([
      transport.sendMail({
        from: { name: plainText(server.fromName), address: server.fromAddress },
        to: { name: '', address: mail.to },
        subject: mail.subject,
        text: mail.text,
        html: mail.html,
        messageId: mail.messageID,
        headers: { 'Auto-Submitted': 'auto-generated' },
      }),
      new Promise<never>((_, failed) => {
        late.addEventListener('abort', () => failed(new MailProblem('way', 'it took too long')), { once: true });
      }),
    ]);
  } catch (error) {
    throw problemOf(error);
  } finally {
    transport.close();
  }
}

function problemOf(error: unknown): MailProblem {
  if (error instanceof MailProblem) return error;
  // nodemailer's errors are declared nowhere
  const { code, response, responseCode, command, message } = error as Error & {
    code?: string;
    response?: string;
    responseCode?: number;
    command?: string;
  };
  if (error instanceof OutboundError) return new MailProblem('way', error.message);
  // what the server answers to AUTH may repeat what it was told
  if (code === 'EAUTH') return new MailProblem('server', `${responseCode ?? ''} user name or password refused`.trim());
  if (response) {
    // RFC 5321 4.2.1: 5yz is final; of a recipient alone, for all else may be set right
    const isFinal = (responseCode ?? 0) >= 500 && (command === 'RCPT TO' || code === 'EENVELOPE');
    return new MailProblem('server', response, isFinal);
  }
  return new MailProblem('way', message);
}
