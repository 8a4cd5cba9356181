/**
 * Relays in nginx.conf. An edge's way to them: `@relay` of the back half, over TLS with a certificate of the zone's authority. A relay's
 * door: a server at a port of its own that lets in whoever shows one (edge/lua/phases/relayed.lua, door.lua). Who stands in the zone is a
 * record; here are only keys and a port, so nodes that come and go reload nothing.
 */
export interface FleetFacts {
  zoneID: number;
  /** PEM files, absolute paths; they are read with the configuration, so another certificate has another path */
  certificate: string;
  key: string;
  authority: string;
  /** where a relay listens; undefined: the node is an edge */
  port?: number | undefined;
}

/** Of a relay, beside the access log: for people, neither shipped nor counted, as edges have a line for each visitor. */
export const relayLog = 'relay.log';

/** Lua assigns them wherever they are read, so they stand in each configuration. */
const maps = [
  '# What passed between us and origins; nothing where a relay had it (phases/front.lua)',
  'map "" $edge_up_bytes { default $upstream_bytes_received; }',
  'map "" $edge_up_time { default $upstream_response_time; }',
  'map "" $edge_relay { default ""; }       # which relay was asked last',
  'map "" $edge_relay_name { default ""; }  # the name it must show',
  'map "" $edge_relay_say { default ""; }   # what it is told of the URL',
  'map "" $edge_turn { default ""; }        # at a relay: for whom others wait',
  'map "" $edge_whole { default ""; }',
  'map "" $hop_part { default $http_x_edge_part; }',
  'auth_request_set $edge_part "";   # at a relay: a part of a large object, which is stored by itself',
];

/**
 * What stands in the template, and what Lua reads.
 * @param listen the directives for a port
 * @param quiet that nothing is compressed: a relay has done it
 */
export function relayValues(
  { fleet, accessLog, logDir }: { fleet?: FleetFacts | undefined; accessLog?: object | false; logDir: string },
  listen: (port: number) => string,
  quiet: readonly string[],
  quoted: (path: string) => string,
) {
  const relayMaps = maps.join('\n    ');
  if (!fleet) return { relayMaps, relayFacts: 'nil', relayWays: '', relayDoor: '' };
  const log = accessLog === false ? 'off' : `"${quoted(logDir)}/${relayLog}"`;
  return {
    relayMaps,
    relayFacts: `{ zone = ${fleet.zoneID}, asks = ${fleet.port === undefined} }`,
    relayWays: relayWays(fleet, quiet, quoted),
    relayDoor: relayDoor(fleet, listen, log, quoted),
  };
}

/** From the door to the relay's own back half; of the visitor it is told what the edge says. */
const toBack = [
  'proxy_set_header Host $host;',
  'proxy_set_header X-Forwarded-For $http_x_real_ip;',
  'proxy_set_header X-Forwarded-Proto $http_x_forwarded_proto;',
  'proxy_set_header X-Forwarded-Host $host;',
  'proxy_set_header X-Real-IP $http_x_real_ip;',
  'proxy_set_header Content-Length "";',
  'proxy_set_header X-Request-Id $edge_rid;',
  'proxy_set_header X-Edge-Key $edge_forward_key;',
  'proxy_set_header X-Edge-CS $upstream_cache_status;',
  'proxy_set_header X-Edge-Connection "";',
  'proxy_set_header X-Edge-Port $edge_port;',
  'proxy_set_header X-Edge-Part $edge_part;',
  'proxy_set_header X-Edge-Relay "";',
  'proxy_set_header Upgrade "";',
  'proxy_set_header Connection "";',
];

function relayWays(fleet: FleetFacts, quiet: readonly string[], quoted: (path: string) => string): string {
  const lines = [
    'rewrite_by_lua_block { relayed.rewrite() }',
    ...quiet,
    'proxy_pass_request_body off;',
    'proxy_set_header Host $host;',
    'proxy_set_header Content-Length "";',
    'proxy_set_header Connection "";',
    'proxy_set_header Upgrade "";',
    'proxy_set_header CDN-Loop $edge_loop;',
    'proxy_set_header X-Edge-Key "";',
    'proxy_set_header X-Edge-CS "";',
    'proxy_set_header X-Edge-Connection "";',
    'proxy_set_header X-Edge-Part "";',
    'proxy_set_header X-Edge-Port $edge_port;',
    'proxy_set_header X-Edge-Relay $edge_relay_say;',
    `proxy_ssl_certificate "${quoted(fleet.certificate)}";`,
    `proxy_ssl_certificate_key "${quoted(fleet.key)}";`,
    `proxy_ssl_trusted_certificate "${quoted(fleet.authority)}";`,
    'proxy_ssl_verify on;',
    'proxy_ssl_verify_depth 1;',
    'proxy_ssl_name $edge_relay_name;',
    'proxy_ssl_protocols TLSv1.3;',
    'proxy_ssl_session_reuse on;',
    '# What else a relay says stands in phases/door.lua; an origin with one of these statuses comes as 593.',
    'proxy_intercept_errors on;',
    'error_page 502 504 590 = @past_relay;',
    'error_page 591 592 = @relay_failed;',
    'error_page 503 = @crowded;',
    'proxy_pass https://relay;',
  ];
  return `# Relays of the zone, and what comes behind them: the origin.
        location @relay {
            ${lines.join('\n            ')}
        }
        location @past_relay {
            rewrite_by_lua_block { back.past_relays() }
            ${quiet.join('\n            ')}
            proxy_pass $edge_scheme://$edge_upstream$edge_uri;
            error_page 502 504 = @other;
            error_page 503 = @crowded;
        }
        location @relay_failed {
            content_by_lua_block { back.relay_failed() }
        }`;
}

/** The upstream of an edge; of a relay also its server. */
function relayDoor(
  { certificate, key, authority, port }: FleetFacts,
  listen: (port: number) => string,
  log: string,
  quoted: (path: string) => string,
): string {
  const upstream = `upstream relay {
        server 0.0.0.1;
        balancer_by_lua_block { relayed.balance() }
        keepalive 64;
        keepalive_timeout 60s;
    }`;
  if (port === undefined) return upstream;
  const cached = [
    'proxy_cache edge;',
    'proxy_cache_key $edge_pre$scheme://$host$request_uri;',
    'proxy_pass_request_body off;',
    'proxy_force_ranges on;',
    'proxy_pass http://back;',
  ];
  return `${upstream}
    # Fields: time, edge, request, host, URL, status, cache, bytes to the edge, bytes from origins, seconds.
    log_format relay escape=default "$time_iso8601\\t$ssl_client_s_dn\\t$edge_rid\\t$host\\t$request_uri\\t$status\\t$upstream_cache_status\\t$bytes_sent\\t$upstream_bytes_received\\t$request_time";
    # A relay's door (phases/door.lua)
    server {
        ${listen(port)}
        server_name _;
        access_log ${log}${log === 'off' ? '' : ' relay'};
        ssl_certificate "${quoted(certificate)}";
        ssl_certificate_key "${quoted(key)}";
        ssl_client_certificate "${quoted(authority)}";
        ssl_verify_client on;
        ssl_verify_depth 1;
        ssl_protocols TLSv1.3;
        ssl_session_cache shared:relay:2m;
        ssl_session_timeout 1h;
        # An edge gives up a connection first.
        keepalive_timeout 75s;
        keepalive_requests 1000000;
        # Who shows no certificate of the zone, or does not speak as edges do, is told nothing.
        error_page 400 405 408 413 414 431 494 495 496 497 500 501 505 /.relay/nothing;
        error_page 502 504 /.relay/failed;
        ignore_invalid_headers on;
        if_modified_since before;
        header_filter_by_lua_block { door.header() }
        log_by_lua_block { door.done() }
        add_header Cache-Control $edge_cc always;
        proxy_hide_header Cache-Control;
        proxy_hide_header X-Edge-CC;
        proxy_hide_header X-Edge-M;
        proxy_hide_header X-Edge-Custom;
        proxy_hide_header X-Edge-Relay;
        proxy_pass_header Date;
        proxy_pass_header Server;
        proxy_ignore_headers Expires Set-Cookie;
        proxy_read_timeout 2h;
        proxy_send_timeout 2h;
        ${toBack.join('\n        ')}

        location / {
            rewrite_by_lua_block {
                local location = door.rewrite()
                if location then ngx.exec(location) end
            }
            proxy_cache_revalidate on;
            proxy_cache_background_update on;
            ${cached.join('\n            ')}
        }
        # A part of an object that is stored as a whole
        location @part {
            proxy_cache_max_range_offset 1;
            ${cached.join('\n            ')}
        }
        # A short one that is not: an object of its own. It comes without If-Range (phases/door.lua)
        location @one_part {
            ${toBack.join('\n            ')}
            proxy_set_header Range $http_range;
            ${cached.join('\n            ')}
        }
        location = /.relay/nothing {
            internal;
            return 444;
        }
        location = /.relay/failed {
            internal;
            content_by_lua_block { door.failed() }
        }
    }`;
}
