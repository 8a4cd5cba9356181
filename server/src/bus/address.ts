/** The address of the bus that nodes are told, when it is not the one by which the control plane reaches it (BREAKWATER_BUS_ADDRESS). */

/**
 * `host` or `host:port`, or several with commas between them; without a port that of the bus.
 * @throws when it is neither
 */
export function toldURL(natsUrl: string, address: string | undefined): string {
  if (!address) return natsUrl;
  const bus = new URL(natsUrl.split(',')[0]!);
  return address
    .split(',')
    .map(one => partsOf(one.trim()))
    .map(told => `${bus.protocol}//${told.host}:${told.port ?? (bus.port || 4222)}`)
    .join(',');
}

/** @throws one sentence for the person who set it */
export function partsOf(address: string): { host: string; port: number | undefined } {
  const [, host, digits] = /^(\[[\da-fA-F:.]+\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(address) ?? [];
  const port = digits === undefined ? undefined : Number(digits);
  if (!host || !URL.canParse(`nats://${host}`) || (port !== undefined && (port < 1 || port > 65_535)))
    throw new Error(
      `BREAKWATER_BUS_ADDRESS must be host or host:port, an IPv6 address in brackets, for example bus.example.com or [2001:db8::1]:4222; it is "${address}".`,
    );
  if (/^(0\.0\.0\.0|\[::\])$/.test(host))
    throw new Error(`BREAKWATER_BUS_ADDRESS is what nodes connect to: ${host} is no address of a machine.`);
  return { host, port };
}
