/** Every section of the system's settings: one line for each folder. */
import { sections as licence } from '../licence/sections.ts';
import type { SettingSection } from '../kit/sections.tsx';

const system: readonly SettingSection[] = [];

export const sections: readonly SettingSection[] = [...licence, ...system].sort((a, b) => a.order - b.order);
