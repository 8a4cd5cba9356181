/** Locations for gRPC: nginx speaks HTTP/2 to origins by grpc_pass alone, whose directives are a set of their own. */
import type { Trust } from './trusts.ts';

interface GrpcFacts {
  /** lines that every location past the cache has */
  head: readonly string[];
  trust: Trust | undefined;
}

const side = [
  'header_filter_by_lua_block { grpc.header() }',
  'error_page 400 413 500 /.edge/refused;',
  'error_page 501 =400 /.edge/refused;',
  'error_page 502 504 = @grpc_failed;',
  'error_page 503 = @direct_crowded;',
  'add_header X-Cache $edge_cache always;',
  'add_header X-Request-Id $edge_rid always;',
  '# A stream may be quiet in one direction for as long as it is not in the other.',
  'client_body_timeout 2h;',
  'grpc_buffer_size 64k;',
  'grpc_connect_timeout 5s;',
  'grpc_read_timeout 60s;',
  'grpc_send_timeout 60s;',
  'grpc_ssl_server_name on;',
  'grpc_ssl_name $edge_sni;',
  'grpc_ssl_protocols TLSv1.2 TLSv1.3;',
  'grpc_ssl_session_reuse off;',
  'grpc_ignore_headers X-Accel-Redirect X-Accel-Charset;',
  'grpc_pass_header Date;',
  'grpc_pass_header Server;',
  ...['X-Edge-CC', 'X-Edge-M', 'X-Edge-Custom', 'X-Edge-Relay', 'X-Edge-Fault', 'X-Cache', 'X-Request-Id', 'Alt-Svc'].map(
    name => `grpc_hide_header ${name};`,
  ),
  'grpc_set_header Host $edge_host;',
  'grpc_set_header TE trailers;',
  'grpc_set_header X-Forwarded-For $remote_addr;',
  'grpc_set_header X-Forwarded-Proto $scheme;',
  'grpc_set_header X-Forwarded-Host $host;',
  'grpc_set_header X-Real-IP $remote_addr;',
  'grpc_set_header X-Request-Id $edge_rid;',
  ...['X-Edge-Key', 'X-Edge-CS', 'X-Edge-Connection', 'X-Edge-Port', 'X-Edge-Part'].map(name => `grpc_set_header ${name} "";`),
  'grpc_set_header CDN-Loop $edge_loop;',
];

/** Where none of them was answered by an origin. */
export const grpcFailed = 'location @grpc_failed {\n            content_by_lua_block { grpc.failed() }\n        }';

/** @param trust by which certificates of origins are verified; undefined: they are not */
export function grpcLocation({ head, trust }: GrpcFacts, quoted: (path: string) => string): string {
  const lines = [
    `rewrite_by_lua_block { grpc.rewrite(${trust ? `"${trust.name}"` : ''}) }`,
    ...head,
    ...side,
    ...(trust
      ? ['grpc_ssl_verify on;', 'grpc_ssl_verify_depth 9;', `grpc_ssl_trusted_certificate "${quoted(trust.file)}";`]
      : []),
    'grpc_pass $edge_grpc://$edge_upstream;',
  ];
  return `location @grpc${trust ? `_${trust.name}` : ''} {\n            ${lines.join('\n            ')}\n        }`;
}
