/** Telegram's Bot API, as far as a message to one chat takes it (core.telegram.org/bots/api, sendMessage). */
import type { AddressPolicy } from '#contract/rules/address-policy.ts';
import { outbound, OutboundError } from './outbound.ts';

export const telegramAPI = 'https://api.telegram.org';
/** of one message, by the Bot API */
export const telegramTextMax = 4096;
/** A token is a part of the path: nothing else may stand there. */
export const isTelegramToken = (token: string) => /^\d{5,15}:[A-Za-z0-9_-]{30,60}$/.test(token);

/** `token`: it is none, or may not write there; `later`: Telegram says when; `trouble`: anything else. What it says never holds the token. */
export class TelegramError extends Error {
  override name = 'TelegramError';
  readonly kind: 'token' | 'later' | 'trouble';
  readonly afterSeconds: number;
  constructor(kind: TelegramError['kind'], message: string, afterSeconds = 0) {
    super(message);
    this.kind = kind;
    this.afterSeconds = afterSeconds;
  }
}
interface Answer {
  ok?: boolean;
  description?: string;
  parameters?: { retry_after?: number };
}

/** Without the token, whoever wrote it. */
const shown = (said: string, token: string) => said.replaceAll(token, '…').slice(0, 200);

/** @throws TelegramError */
export async function sendTelegram(
  { token, chatID }: { token: string; chatID: string },
  text: string,
  reach: { policy: AddressPolicy; api?: string | undefined },
): Promise<void> {
  if (!isTelegramToken(token)) throw new TelegramError('token', 'it is no token');
  let status = 0;
  let answer: Answer = {};
  try {
    const got = await outbound(`${reach.api ?? telegramAPI}/bot${token}/sendMessage`, {
      policy: reach.policy,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      // plain text: what a name holds is no markup
      body: JSON.stringify({
        chat_id: chatID,
        text: text.slice(0, telegramTextMax),
        link_preview_options: { is_disabled: true },
      }),
      bytesMax: 65_536,
      timeoutMs: 10_000,
    });
    status = got.status;
    // whatever it is, each field is looked at before it is used
    answer = JSON.parse(got.body.toString('utf8')) as Answer;
  } catch (error) {
    const why = error instanceof OutboundError ? error.message : status ? `HTTP ${status}` : 'socket hang up';
    throw new TelegramError('trouble', shown(why, token));
  }
  if (status === 200 && answer.ok === true) return;
  const said = shown(String(answer.description ?? `HTTP ${status}`), token);
  if (status === 429) throw new TelegramError('later', said, Math.min(3600, Math.max(1, answer.parameters?.retry_after ?? 30)));
  throw new TelegramError([400, 401, 403, 404].includes(status) ? 'token' : 'trouble', said);
}
