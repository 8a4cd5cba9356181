/** Whether a node speaks, and whether what it says is well: of a paused one nobody else looks whether it still does. As SQL, of a row of `node`. */
/** Three missed heartbeats of 2 s, and some air. */
export const offlineAfterMs = 7000;

/** One that is silent may be as well as ever: its uplink, our own, or the machine may be away for a minute. */
export const isHeard = (n: string) =>
  `(${n}.status not in ('unknown', 'offline', 'reconnect', 'natsError') and coalesce(${n}."lastBeat" > clock_timestamp() - interval '${offlineAfterMs} ms', false))`;
export const saysWell = (n: string) =>
  `(${n}.status in ('normal', 'paused') and ${n}.beat->>'problem' is null and coalesce(${n}.beat->'nginx'->>'up', '') = 'true')`;
