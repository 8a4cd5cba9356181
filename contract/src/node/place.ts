/** Where a node stands, and what of a node several files of the contract name. */
import { num, obj, text } from '../kit/schema.ts';
import { fleetLimits } from '../limits.ts';

export const nodeStatuses = ['unknown', 'normal', 'error', 'offline', 'paused', 'natsError', 'reconnect'] as const;

/** Degrees of WGS 84; `name` is what the operator calls the place. */
export const Place = obj({ name: text(fleetLimits.placeNameMax), latitude: num(-90, 90), longitude: num(-180, 180) });
