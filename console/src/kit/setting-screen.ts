/** A setting of the console as data. */
import type { ReactNode } from 'react';
import type { SettingSource } from '#contract/kit/setting.ts';
import type { AnswerOf, CallKey } from './client.ts';
import type { FormField } from './resource.ts';
import type { Named } from './text.ts';

/** Where a setting is read and written. */
export type SettingPath = {
  [K in CallKey]: K extends `PUT ${infer P}`
    ? `GET ${P}` extends CallKey
      ? AnswerOf<`GET ${P}`> extends { from: SettingSource; above: object }
        ? P
        : never
      : never
    : never;
}[CallKey];

export interface SettingScreen {
  /** Names its text, `tab.<name>`: a heading stands above the card, which says the same to who does not see it. */
  name: Named<'tab'>;
  path: SettingPath;
  /** The level this screen is about. */
  level: SettingSource;
  fields: FormField[];
  /** What each field says to somebody who may only look; left out: its value as text. */
  shown?: Record<string, (value: never) => ReactNode>;
  /** What is said once it is saved; the general words unless given. */
  saved?: () => string;
}
