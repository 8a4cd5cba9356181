/** The driver of a setting. */
import type { dnsTypes } from '#contract/limits.ts';
import type { Services } from '../kit/services.ts';
import type { NameDriver } from './driver.ts';
import { KnotDriver } from './knot.ts';

/** Undefined: this installation has none of the kind. */
export function driverOf({ knot }: Pick<Services, 'knot'>, kind: (typeof dnsTypes)[number]): NameDriver | undefined {
  switch (kind) {
    case 'knot':
      return knot && new KnotDriver(knot);
  }
}
