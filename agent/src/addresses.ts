/** Where others reach this node, as it tells the control plane: names and relays are answered with these. */
import { isIP } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** Of containers and virtual machines of this very machine (Calico leaves out the like): nobody else comes in there. */
const inside = /^(docker|br-[0-9a-f]{12}$|veth|virbr|lxcbr|lxdbr|cni|cali|flannel|kube-|podman|nerdctl)/;
const everywhere = { 4: '0.0.0.0', 6: '::' } as const;
const addressesMost = 100;

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

function outerOf(interfaces: Interfaces): string[] {
  const outer = Object.entries(interfaces).flatMap(([name, list = []]) =>
    list.filter(one => !one.internal && !one.address.startsWith('fe80:')).map(({ address }) => ({ name, address })),
  );
  const open = outer.filter(({ name }) => !inside.test(name));
  return (open.length ? open : outer).map(({ address }) => address);
}

/**
 * @param listen what nginx was started for (`--listen`); left out: every address
 * @returns addresses that others may reach; loopback alone where there are no others
 */
export function ownAddresses(listen: readonly string[] = [], interfaces: Interfaces = networkInterfaces()): string[] {
  const all = listen.length ? listen.filter(one => isIP(one) !== 0) : Object.values(everywhere);
  const chosen = all.flatMap(address => {
    const family = isIP(address) === 6 ? 6 : 4;
    return address === everywhere[family] ? outerOf(interfaces).filter(one => isIP(one) === family) : [address];
  });
  return chosen.length ? [...new Set(chosen)].slice(0, addressesMost) : ['127.0.0.1'];
}
