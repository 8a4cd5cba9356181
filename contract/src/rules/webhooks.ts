/** Where events may be sent to: http or https, without a name and a password in it, which every log on the way would show. */
import { webhookLimits } from '../limits.ts';
import { broken, isEmpty, wrong } from './rule.ts';
import type { Rule } from './rule.ts';

export const webhookURL: Rule<string | null | undefined> = {
  name: 'webhookURL',
  check(value) {
    if (isEmpty(value)) return true;
    if (!/^https?:\/\/[!-~]+$/i.test(value!) || !URL.canParse(value!)) return wrong('urlForm');
    const { username, password, hostname } = new URL(value!);
    return !username && !password && hostname !== '' ? true : wrong('urlForm');
  },
};

/** A secret that was chosen: nobody guesses it from a few signed bodies. */
export const webhookSecret: Rule<string | null | undefined> = {
  name: 'webhookSecret',
  check: value =>
    isEmpty(value) || value!.length >= webhookLimits.secretMin ? true : broken('secretShort', { min: webhookLimits.secretMin }),
};
