/** What the vendor sees. */
import type { AreaScreens } from '../kit/screens.ts';

export const screens: AreaScreens = { area: 'admin', sections: [] };
