import * as z from 'zod/mini';
import { frequencies, Frequency } from './frequencies.ts';
import { ErrorPage, errorPages } from './errorPages.ts';
import { zoneSettingFields } from '../settings.ts';
import { head, kind, text } from './kind.ts';
import { portLimits, schemes, upstreamLimits } from '../../limits.ts';

const addresses = (max: number) => z._default(z.array(text(60)).check(z.maxLength(max)), []);
/** Where origins may lie (rules/address-policy.ts). An older document has none of it: then public addresses alone. */
export const OriginPolicy = z.object({ operator: addresses(100), environment: addresses(100), own: addresses(10_000) });

/** One port speaks one protocol. */
const ListeningPort = z.object({
  port: z.int().check(z.gte(upstreamLimits.portMin), z.lte(upstreamLimits.portMax)),
  scheme: z.enum(schemes),
});

/** `cfg.<zone>.zone.<id>`: what holds for every site of the zone. */
export const zone = kind({
  name: 'zone',
  on: 'zone',
  schema: z.object({
    ...head,
    origins: z.optional(OriginPolicy),
    frequencies: z.optional(z.array(Frequency)),
    errorPages: z.optional(z.array(ErrorPage)),
    /** where its nodes listen beside their usual ports */
    ports: z.optional(z.array(ListeningPort).check(z.maxLength(portLimits.perZoneMax))),
    ...zoneSettingFields,
  }),
  // 10,200 addresses of 60 characters, 30 frequencies with patterns of 1,024, however they are written; 100,000 bytes of error pages; 100 ports
  bytesMax: 985_000,
  keys: [...frequencies.keys, ...errorPages.keys, 'port', 'scheme'],
  key: () => 'z:',
});
