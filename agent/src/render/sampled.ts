/**
 * `sampled.log`: one request of so many with all that was decided about it, a line of JSON each, for people at the node. Which ones is drawn
 * for each request anew, and those that are not cost the drawing alone. No credentials: no cookie, no Authorization, no body; of an address
 * nothing behind its path, where people send tokens, and of whom it came from the site alone.
 */
export const sampledLog = 'sampled.log';

const told: Record<string, string> = {
  time: '$time_iso8601',
  id: '$edge_rid',
  ip: '$remote_addr',
  tls: '$ssl_protocol $ssl_cipher',
  protocol: '$server_protocol',
  method: '$request_method',
  scheme: '$scheme',
  host: '$host',
  uri: '$edge_told_path',
  userAgent: '$http_user_agent',
  referer: '$edge_told_referer',
  range: '$http_range',
  ifNoneMatch: '$http_if_none_match',
  ifModifiedSince: '$http_if_modified_since',
  site: '$edge_site',
  domain: '$edge_domain',
  reason: '$edge_reason',
  status: '$status',
  bytes: '$bytes_sent',
  seconds: '$request_time',
  cache: '$edge_cache',
  cacheKeyPrefix: '$edge_pre',
  cacheControl: '$edge_cc',
  upstream: '$upstream_addr',
  upstreamStatus: '$upstream_status',
  upstreamConnect: '$upstream_connect_time',
  upstreamHeader: '$upstream_header_time',
  upstreamSeconds: '$upstream_response_time',
  upstreamBytes: '$upstream_bytes_received',
  rtt: '$tcpinfo_rtt',
  connection: '$connection',
  connectionRequests: '$connection_requests',
};

/** nginx knows shares down to a hundredth of a percent. @param every 0: nothing is written @param folder as nginx reads it */
export function sampled(every: number, folder: string): string {
  if (every === 0) return '';
  const share = Math.max(0.01, Math.round(10_000 / every) / 100);
  return [
    '',
    'map $request_uri $edge_told_path { "~^(?<told_path>[^?#]*)" $told_path; default ""; }',
    'map $http_referer $edge_told_referer { "~*^(?<told_scheme>https?://)(?:[^/?#@]*@)?(?<told_site>[^/?#@]*)" $told_scheme$told_site; default ""; }',
    `split_clients "$request_id" $edge_sampled { ${share}% 1; * ""; }`,
    `log_format sampled escape=json '{${Object.entries(told)
      .map(([name, value]) => `"${name}":"${value}"`)
      .join(',')}}';`,
    `access_log "${folder}/${sampledLog}" sampled if=$edge_sampled;`,
  ].join('\n    ');
}
