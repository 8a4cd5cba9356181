/** Sections of the system's settings. */
import { withTexts } from '../kit/screens.ts';
import type { SettingSection } from '../kit/sections.tsx';
import { tabContent } from '../kit/tabs.tsx';

export const sections: readonly SettingSection[] = [
  {
    name: 'license',
    order: 90,
    group: 'installation',
    call: 'GET /client/license',
    finds: ['installationID'],
    Content: tabContent(withTexts('licence', async () => (await import('./own.tsx')).OwnLicense)),
  },
];
