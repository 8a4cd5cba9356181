/** Pages about what happened, by area. */
import { type Screen, withTexts } from '../kit/screens.ts';

export const user: readonly Screen[] = [
  { path: 'dashboard', title: 'dashboard', order: 10, load: withTexts('analytics', () => import('./dashboard.tsx')) },
  {
    path: 'dataAnalysis/logger',
    title: 'logger',
    order: 20,
    call: 'POST /{area}/logs/access',
    load: withTexts('analytics', () => import('./access-log.tsx')),
  },
];

export const client = user;
