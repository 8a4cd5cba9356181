/** How origins are asked over TLS: whether their certificate is verified, by which authorities, and for which name. */
import * as z from 'zod/mini';
import { verifications } from '../limits.ts';
import { at, settingOf } from '../kit/setting.ts';
import { one, text } from '../kit/schema.ts';
import { wrong } from '../rules/rule.ts';
import { isHostName } from '../rules/values.ts';
import { zodRule } from '../rules/zod.ts';

/** Characters of the authorities that somebody pastes. */
export const originCAMax = 16_384;

const serverName = () =>
  text(253).check(
    zodRule({ name: 'serverName', check: (name: string) => (name === '' || isHostName(name) ? true : wrong('originForm')) }),
  );

export const originTLS = settingOf({
  name: 'originTLS',
  fields: {
    /** off: any certificate is taken; public: it must come from an authority that the nodes' system knows; own: from one of `ca` */
    verify: one(verifications),
    /** PEM of one's own authorities; empty where there are none */
    ca: text(originCAMax).check(z.regex(/^[\t\r\n -~]*$/)),
    /** the name that origins are asked for, and that their certificate must have; empty: that of the Host they are asked for */
    sni: serverName(),
  },
  defaults: { verify: 'off', ca: '', sni: '' },
  levels: { domain: { ...at.domain, path: '/originTLS' } },
  edge: 'domain',
});
