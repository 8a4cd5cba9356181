/** Figures and logs: no rows of their own. */
import type { Rows } from '../world.ts';

export const analyticsRows: Rows = {
  values: {
    startTime: () => new Date(Date.now() - 3_600_000).toISOString(),
    totalsFrom: () => new Date(Date.now() - 3_600_000).toISOString(),
    endTime: () => new Date().toISOString(),
  },
};
