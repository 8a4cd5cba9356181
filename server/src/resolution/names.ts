/** What names look like: `KEY.ZONE` of a site leads to `gN.l.ZONE` of its group, whose addresses are the nodes'. */

/** The zone that groups stand in: apart, so that a change of a node rewrites one name and resolvers keep the sites' own for long. */
export const lineZone = (zone: string) => `l.${zone}`;
export const groupLabel = (groupID: number) => `g${groupID}`;
export const groupName = (zone: string, groupID: number) => `${groupLabel(groupID)}.${lineZone(zone)}`;
/** Says which version of a group is answered; also to visitors of its lines. */
export const versionName = (zone: string, groupID: number) => `v.${groupName(zone, groupID)}`;
export const siteName = (zone: string, label: string) => `${label}.${zone}`;

/** The group a name of ours stands for; undefined: it is none. */
export function groupOf(zone: string, name: string): number | undefined {
  const end = `.${lineZone(zone)}`;
  const [, id] = name.endsWith(end) ? (/^g([1-9]\d{0,15})$/.exec(name.slice(0, -end.length)) ?? []) : [];
  return id === undefined ? undefined : Number(id);
}

/** Of the key that updates of the embedded name server are signed with. */
export const updateKeyName = 'breakwater';
/** Seconds that resolvers keep them. */
export const ttl = { site: 300, group: 20, version: 1, zone: 3600, negative: 20 } as const;
