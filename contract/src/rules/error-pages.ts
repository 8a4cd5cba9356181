/** What an error page's content may be, by its type (§9). */
import type { errorPageTypes } from '../limits.ts';
import { broken, isEmpty, wrong } from './rule.ts';
import type { Rule } from './rule.ts';

/** The edge puts the address into a header line as it stands: printable ASCII, as browsers write addresses. */
function isAddress(value: string): boolean {
  if (!/^https?:\/\/[!-~]+$/i.test(value) || value.length > 2048) return false;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url !== undefined && url.hostname !== '' && url.username === '' && url.password === '';
}

/** `content` is HTML, an address or a script; the page itself is its owner's to write. */
export const errorPage: Rule<unknown> = {
  name: 'errorPage',
  check(page) {
    const { type, content } = (page ?? {}) as { type?: (typeof errorPageTypes)[number]; content?: string };
    if (type === undefined) return true;
    if (isEmpty(content?.trim())) return broken('required', undefined, ['content']);
    if (type === 'urlRedirect') return isAddress(content!) ? true : wrong('urlForm', ['content']);
    // oxlint-disable-next-line no-control-regex -- no page has use for them
    return /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/.test(content!) ? wrong('invisible', ['content']) : true;
  },
};
