/** One mail to one server (RFC 5321), connected to by the address policy alone. */
import type { Socket } from 'node:net';
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
  /** a conversation, until the whole mail is out; left out: `mailLimits.timeoutSeconds` */
  timeoutMs?: number | undefined;
  /** the program ends */
  signal?: AbortSignal | undefined;
  /** the server has the whole mail; its answer may take `mailLimits.answerSeconds` from now */
  onOut?: (() => void) | undefined;
}

/**
 * What kept a mail. `server`: the server's own words; `way`: there was no way to it.
 * `isFinal`: trying again changes nothing, the server takes no such mail. `isOfServer`: any other mail would fare the same.
 * `isOut`: the server may have taken it all the same.
 */
export class MailProblem extends Error {
  override name = 'MailProblem';
  readonly from: 'server' | 'way';
  readonly isFinal: boolean;
  readonly isOfServer: boolean;
  readonly isOut: boolean;
  constructor(from: 'server' | 'way', message: string, what: { isFinal?: boolean; isOut?: boolean; isOfServer?: boolean } = {}) {
    super(plainText(message, 300));
    this.from = from;
    this.isFinal = what.isFinal ?? false;
    this.isOut = what.isOut ?? false;
    this.isOfServer = what.isOfServer ?? (from === 'way' && !this.isOut);
  }
}

const conversationMs = mailLimits.timeoutSeconds * 1000;
/** A server that has the mail is given this long to say so when the program ends. */
const settleMs = 5000;
/** nodemailer says QUIT and waits for the other side; nobody waits for that. */
const quitMs = 2000;

/**
 * A conversation of `mailLimits.timeoutSeconds`. Once the server has the whole mail its answer is waited for much longer: to hang up before
 * would be to send the same mail again (RFC 5321 4.5.3.2.6).
 * @throws MailProblem; what it says holds no password, and nothing of the mail
 */
export async function deliver(
  server: MailServer,
  mail: Rendered & { to: string; messageID: string },
  { policy, ca, signal, onOut, timeoutMs = conversationMs }: Delivery,
): Promise<void> {
  const { host, port } = server;
  const late = Promise.withResolvers<never>();
  let isOut = false;
  const giveUp = () => late.reject(new MailProblem('way', 'it took too long', { isOut }));
  let timer = setTimeout(giveUp, timeoutMs);
  const wait = (ms: number) => {
    clearTimeout(timer);
    timer = setTimeout(giveUp, ms);
  };
  const end = () => (isOut ? wait(settleMs) : giveUp());
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) giveUp();
  const dialled = connectOut(host, port, { policy, timeoutMs });
  let hangUpMs = 0;
  try {
    const connection = await Promise.race([dialled, late.promise]);
    const transport = transportOf(server, connection, ca, () => {
      isOut = true;
      wait(signal?.aborted ? settleMs : mailLimits.answerSeconds * 1000);
      onOut?.();
    });
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
      late.promise,
    ]);
    hangUpMs = quitMs;
  } catch (error) {
    throw problemOf(error, isOut);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    // nodemailer ends no conversation that is under way: what is given up would be sent all the same
    void hangUp(dialled, hangUpMs);
  }
}

async function hangUp(dialled: Promise<Socket>, ms: number): Promise<void> {
  const socket = await dialled.catch(() => undefined);
  if (ms) setTimeout(() => socket?.destroy(), ms).unref();
  else socket?.destroy();
}

function transportOf(server: MailServer, connection: Socket, ca: string | undefined, onOut: () => void) {
  const { host, port, security, username, password } = server;
  const nothing = () => {};
  return createTransport({
    host,
    port,
    connection,
    secure: security === 'tls',
    // without it a server in between that offers no encryption would be told the password
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(username ? { auth: { user: username, pass: password ?? '' } } : {}),
    ...(ca ? { tls: { ca } } : {}),
    connectionTimeout: conversationMs,
    greetingTimeout: conversationMs,
    // `deliver` is stricter before the mail is out
    socketTimeout: mailLimits.answerSeconds * 1000,
    dnsTimeout: conversationMs,
    // a mail is what we wrote: nothing in it names a file or an address to fetch
    disableFileAccess: true,
    disableUrlAccess: true,
    // the one place that tells when the body's last byte was written
    logger: {
      level: nothing,
      trace: nothing,
      debug: nothing,
      warn: nothing,
      error: nothing,
      fatal: nothing,
      info: (entry: unknown) => {
        if (typeof entry === 'object' && entry !== null && 'outByteCount' in entry) onOut();
      },
    },
  });
}

/** Of RCPT TO: not of the one address, but of what this server takes from us at all (RFC 4954 6, RFC 3463 3.8; "relay access denied"). */
const isOfSender = (code: number, response: string) => /^5(30|35|38)$/.test(String(code)) || /\b5\.7\.\d|relay/i.test(response);

function problemOf(error: unknown, isOut: boolean): MailProblem {
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
  if (code === 'EAUTH')
    return new MailProblem('server', `${responseCode ?? 'AUTH'} user name or password refused`, { isOfServer: true });
  if (response) {
    // RFC 5321 4.2.1: 5yz is final. It is so of this recipient and of this body; the sender and the rest may be set right
    const said = responseCode ?? 0;
    const isOfOne = command === 'RCPT TO' || code === 'EMESSAGE';
    const isFinal = said >= 500 && isOfOne && !(command === 'RCPT TO' && isOfSender(said, response));
    return new MailProblem('server', response, { isFinal, isOfServer: said >= 500 && !isOfOne });
  }
  return new MailProblem('way', message, { isOut });
}
