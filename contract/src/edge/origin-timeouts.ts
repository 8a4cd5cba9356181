/** How long the origins of a domain are waited for. */
import { originTimeoutLimits as limits } from '../limits.ts';
import { int } from '../kit/schema.ts';
import { at, settingOf } from '../kit/setting.ts';

export const originTimeouts = settingOf({
  name: 'originTimeouts',
  fields: {
    /** seconds until a connection, over TLS the handshake with it, must stand */
    connect: int(1, limits.connectSecondsMax),
    /** seconds from one piece of an answer to the next, and until its first; of an idle WebSocket as well */
    read: int(1, limits.pieceSecondsMax),
    /** seconds from one piece of a request that the origin takes to the next */
    send: int(1, limits.pieceSecondsMax),
  },
  // as nginx.conf says it for whoever set nothing
  defaults: { connect: 5, read: 60, send: 60 },
  levels: { domain: { ...at.domain, path: '/originTimeouts' } },
  edge: 'domain',
});
