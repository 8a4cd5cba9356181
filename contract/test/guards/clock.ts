/**
 * The wall clock is stepped by NTP, by hand and by a host that slept: whoever measures a span of time by it stands still for an hour
 * when it goes back. Spans, deadlines and "not again before" use `performance.now()`; the wall clock says when something was, to others.
 */
import type { Source } from './sources.ts';

/** Every place that may read the wall clock: how many there are, and why no other clock will do. */
export const wallClock: Readonly<Record<string, readonly [count: number, why: string]>> = {
  'bin/launch/own-authority.ts': [1, 'how long a certificate is good yet'],
  'agent/src/agent.ts': [1, 'a timestamp in each heartbeat: the control plane finds how wrong the node’s clock is'],
  'agent/src/commands.ts': [1, 'a command expires at a time that the control plane wrote'],
  'agent/src/identity.ts': [3, 'the control plane compares it with its own clock; how long a certificate is good yet'],
  'agent/src/relays.ts': [1, 'compared with a time that nginx says'],
  'agent/src/link.ts': [2, 'the age of a token, written in it by the control plane'],
  'agent/src/nginx.ts': [1, 'a name, unlike that of an earlier life'],
  'agent/src/ship/files.ts': [1, 'a name'],
  'agent/src/nginx-files.ts': [1, 'a file’s time says when a key of session tickets was made'],
  'agent/src/ship/ship.ts': [1, 'a timestamp, from which the bus finds how wrong our clock is'],
  'server/src/resolution/geo/build.ts': [1, 'a timestamp in a file'],
  'server/src/resolution/geo-source.ts': [2, 'days since a timestamp that outlives the process; one that people see'],
  'server/src/resolution/geo/data.ts': [1, 'a timestamp that people see'],
  'server/src/resolution/geo/current.ts': [2, 'times of files'],
  'server/src/resolution/knot-stores.ts': [1, 'a file’s time says when damage was last told, by this process or one before'],
  'server/src/resolution/knot.ts': [1, 'a serial that a zone whose folder was lost counts on from: it outlives the process'],
  'bin/backup/tar.ts': [1, 'a timestamp in an archive'],
  'console/gallery/fake.ts': [1, 'rows that end some time from now'],
  'console/src/analytics/access-log.tsx': [1, 'what the user asks about is a time of day'],
  'console/src/analytics/figures.ts': [1, 'what the user asks about is a time of day'],
  'console/src/analytics/log-filters.tsx': [1, 'what the user asks about is a time of day'],
  'console/src/analytics/log-query.ts': [1, 'what the user asks about is a time of day'],
  'console/src/analytics/series.ts': [1, 'what the user asks about is a time of day'],
  'console/src/kit/drafts.ts': [2, 'a draft outlives the page whose clock a span would need'],
  'console/src/kit/pem-input.tsx': [1, 'whether a certificate is over'],
  'console/src/kit/until.tsx': [1, 'how far a timestamp of the server lies'],
  'console/src/kit/release.ts': [2, 'it outlives the page whose clock a span would need'],
  'console/src/node/ago.tsx': [1, 'how long ago a timestamp of the server was'],
  'console/src/traffic/plans.tsx': [1, 'a plan begins at a time of day'],
  'console/src/account/fields.ts': [1, 'whether a moment that somebody chose lies behind us'],
  'console/src/site/sites.tsx': [1, 'whether a moment that somebody chose lies behind us'],
  'console/vite.config.ts': [1, 'compared with the times of files'],
  'contract/src/rules/times.ts': [3, 'how far from now a time of day may lie that the caller names'],
  'server/src/bus/credentials.ts': [1, 'tokens and commands expire at a time that others read'],
  'server/src/bus/foreign.ts': [1, 'a timestamp'],
  'agent/src/upgrade/upgrade.ts': [1, 'a name of a question'],
  'server/src/bus/offer.ts': [2, 'a ticket ends at a time that is written in it'],
  'server/src/bus/join-token.ts': [1, 'how far the clock of a node is from ours'],
  'server/src/bus/join.ts': [1, 'until when a certificate is good'],
  'server/src/domain/dns/http.ts': [1, 'requests are signed with a time that the provider compares with its own'],
  'server/src/domain/dns/rfc2136.ts': [3, 'messages are signed with a time that the name server compares with its own'],
  'server/src/domain/dns/transfer.ts': [2, 'messages are signed with a time that the name server compares with its own'],
  'server/src/ingest/ingest.ts': [1, 'a timestamp'],
  'server/src/kit/licence.ts': [2, 'a licence ends at a time of the calendar, and a clock that was set back is noticed'],
  'server/src/licence/licences.ts': [3, 'a licence begins and ends at times of the calendar'],
  'server/src/kit/devices.ts': [2, 'a cookie that outlives the process'],
  'console/src/system/announcements.tsx': [1, 'what is current is told by the time of day'],
  'server/src/kit/metrics.ts': [1, 'a gauge that others compare with their own clock'],
  'server/src/account/accounts.ts': [1, 'the end of an account is a time'],
  'server/src/account/api-tokens.ts': [1, 'the end a person sets is a time'],
  'server/src/account/factors.ts': [1, 'a code of an authenticator is of a time of day'],
  'server/src/account/second-factor.ts': [1, 'the same'],
  'server/src/kit/api-tokens.ts': [2, 'tokens outlive the process'],
  'server/src/kit/passes.ts': [2, 'a pass says until when it holds, to another process of ours'],
  'server/src/kit/session.ts': [6, 'tokens and sessions outlive the process'],
  'server/src/node/fleet.ts': [1, 'what nodes do now is asked of the store by the time of their log lines'],
  'server/src/node/nodes.ts': [2, 'times of rows, and when a token expires'],
  'server/src/standard-output.ts': [1, 'a timestamp in the log'],
  'server/src/store/analytics/freeze.ts': [1, 'compared with the times of files'],
  'server/src/system/checks.ts': [3, 'how long ago a run was that a row tells of'],
  'server/src/system/failing-source.ts': [1, 'days since a failure that a row tells of'],
};

/** The same in the edge, where spans use core/clock.lua. */
export const wallClockOfLua: Readonly<Record<string, readonly [count: number, why: string]>> = {
  'edge/lua/cache/invalidation.lua': [1, 'compared with a time that the release before wrote down'],
  'edge/lua/cache/fields.lua': [1, 'a date that a header names'],
  'edge/lua/core/clock.lua': [1, 'time(), for those that are named here'],
  'edge/lua/core/problems.lua': [1, 'another second begins, whichever it is'],
  'edge/lua/core/relays.lua': [1, 'since when a relay is away, for people'],
  'edge/lua/phases/door.lua': [1, 'compared with when a site expires'],
  'edge/lua/core/store.lua': [1, 'another millisecond begins, whichever it is; nginx keeps it at hand'],
  'edge/lua/phases/back.lua': [1, 'compared with times in headers of the origin'],
  'edge/lua/phases/front.lua': [1, 'compared with the times of stored answers'],
};

/** `Date.now` however it is reached, what gets the same out of a `Date` of now, and the other two that tell the time of day. */
const reads =
  /\bperformance\.timeOrigin\b|\bTemporal\.Now\b|\bDate\s*(?:\?\.)?\[|\{[^{}]*\bnow\b[^{}]*\}\s*=\s*(?:globalThis\.)?Date\b|\bDate\.now\b|\bDate\(\)\s*[-<>]|[-+<>]\s*new Date\(\)|\bnew Date\(\)\.(?:getTime|valueOf)\(/g;
const readsOfLua =
  /\bngx\.(?:now|time|update_time)\b|\bclock\.time\b|\bngx_http_lua_ffi_(?:now|time)\b|\bos\.(?:time|clock|date)\b/g;

export function clockProblems(files: readonly Source[], allowed = wallClock): string[] {
  const problems: string[] = [];
  const found = new Map(
    files.map(({ file, text }) => {
      if (file.endsWith('.lua')) return [file, text.replace(/--.*$/gm, '').match(readsOfLua)?.length ?? 0];
      const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
      return [file, code.match(reads)?.length ?? 0];
    }),
  );
  for (const [file, count] of found) {
    const may = allowed[file]?.[0] ?? 0;
    if (count > may)
      problems.push(
        `${file} reads the wall clock ${count} times, ${may} have a reason: measure spans and deadlines with performance.now() (in Lua: core/clock.lua), or list a timestamp in contract/test/guards/clock.ts`,
      );
    if (count < may) problems.push(`${file} reads the wall clock ${count} times: contract/test/guards/clock.ts lists ${may}`);
  }
  for (const file of Object.keys(allowed)) if (!found.has(file)) problems.push(`${file} is listed in clock.ts and is not there`);
  return problems;
}
