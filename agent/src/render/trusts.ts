/**
 * By which authorities certificates of origins are verified: `public`, those of the machine, and each authority of a customer's own under
 * the hash of its text. nginx takes no variable for them, so each has locations of its own in nginx.conf, and a new one is a reload. Until
 * nginx knows it, a domain that wants it is not asked for at all (edge/lua/core/trusts.lua).
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { DomainDocument } from '#contract/edge/document.ts';

/** Of one node; whose authority is beyond them has its origins refused. */
export const ownTrustsMost = 500;
/** Of them, of one customer. */
export const ownTrustsOfParty = 50;

export interface Trust {
  /** [a-z0-9]+ */
  name: string;
  /** PEM, absolute path */
  file: string;
}

/** Where Debian keeps those of the machine (ca-certificates). */
const publicFile = '/etc/ssl/certs/ca-certificates.crt';
export const publicTrust = (file = publicFile): Trust | undefined => (existsSync(file) ? { name: 'public', file } : undefined);

type OriginTLS = NonNullable<DomainDocument['originTLS']>;
const nameOf = (pem: string) => createHash('sha256').update(pem).digest('hex').slice(0, 24);

export interface OwnTrust {
  name: string;
  pem: string;
}
/** A customer's own authority, where the domain has one. */
export function ownTrust(tls: OriginTLS | undefined): OwnTrust | undefined {
  return tls?.verify === 'own' ? { name: nameOf(tls.ca), pem: tls.ca } : undefined;
}

/** As it stands in the domain's record: a name instead of the text. */
export function trustOfRecord(tls: OriginTLS): { verify: string; sni: string; trust?: string } {
  const { verify, sni } = tls;
  if (verify === 'off') return { verify, sni };
  return { verify, sni, trust: ownTrust(tls)?.name ?? 'public' };
}

/** @param broken what the filter of compression wants wherever nginx passes an answer on */
export function trustLocations({ name, file }: Trust, broken: string, quoted: (path: string) => string): string {
  const verify = `proxy_ssl_verify on;
            proxy_ssl_verify_depth 9;
            proxy_ssl_trusted_certificate "${quoted(file)}";`;
  const place = (kind: string, lua: string, more: string) => `location @trust_${kind}${name} {
            rewrite_by_lua_block { ${lua} }
            ${broken}
            ${verify}
            proxy_pass $edge_scheme://$edge_upstream$edge_uri;
            ${more}
        }`;
  return [
    place(
      '',
      `back.rewrite(nil, "${name}")`,
      `error_page 502 504 = @trust_other_${name};\n            error_page 503 = @crowded;`,
    ),
    place(
      'other_',
      `back.other("${name}")`,
      `error_page 502 504 = @trust_other_${name};\n            error_page 503 = @crowded;`,
    ),
    place(
      'upload_',
      `back.upload("${name}")`,
      'proxy_request_buffering off;\n            error_page 502 504 = @failed;\n            error_page 503 = @crowded;',
    ),
    `location @trust_fetch_${name} {
            lua_check_client_abort on;
            client_max_body_size 128m;
            lua_ssl_trusted_certificate "${quoted(file)}";
            lua_ssl_verify_depth 9;
            error_page 503 = @crowded;
            content_by_lua_block { back.fetch("${name}") }
            log_by_lua_block { back.fetched() }
        }`,
  ].join('\n        ');
}
