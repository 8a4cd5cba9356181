/** Whether a domain's schemes, its port map and its origins fit together, and where its nodes will connect to. */
import { failFields } from '#contract/errors.ts';
import { schemes, upstreamLimits } from '#contract/limits.ts';
import { askedAt, type PortMap, portMapDefault, portMapFits } from '#contract/rules/schemes.ts';
import type { Context } from '../kit/context.ts';
import { checkOrigins } from '../system/origins.ts';
import type { DomainRow, UpstreamRow } from './tables.ts';

/** How visitors come to a domain, and where its origins that follow are asked. */
export type Reached = Pick<DomainRow, 'scheme' | 'portMap'>;
/** Of a domain nobody has said more of. */
export const newReached: Reached = { scheme: 'any', portMap: portMapDefault };

/** An origin of a body, and the path that leads to it. */
export interface Wished {
  address?: string | undefined;
  port?: number | undefined;
  protocol?: UpstreamRow['protocol'] | undefined;
  path: string;
}
const whole = ({ port = upstreamLimits.portDefault, protocol = 'http' }: Omit<Wished, 'path'>) => ({ port, protocol });

/** Refuses origins of a domain that is reached in this way where one port would have to speak both protocols. `path`: of that field, else of the origin's protocol. */
export function checkFit(reached: Reached, origins: readonly Wished[], field?: string): void {
  const problems = origins.flatMap(one => {
    const found = portMapFits.check({ ...whole(one), ...reached });
    return found === true ? [] : found.map(problem => ({ ...problem, path: field ?? `${one.path}.protocol` }));
  });
  // many origins break one field in one way
  if (problems.length) throw failFields(field === undefined ? problems : problems.slice(0, 1));
}

/** The origins at each port at which they are asked. */
export const askedOf = (origins: readonly Wished[], portMap: PortMap): (Wished & { port: number })[] =>
  origins.flatMap(one =>
    [...new Set(schemes.map(visitor => askedAt(whole(one), portMap, visitor).port))].map(port => ({ ...one, port })),
  );

/** What is refused of new or changed origins. */
export async function checkReached(ctx: Context, siteID: number, reached: Reached, origins: readonly Wished[]): Promise<void> {
  checkFit(reached, origins);
  await checkOrigins(ctx, siteID, askedOf(origins, reached.portMap));
}
