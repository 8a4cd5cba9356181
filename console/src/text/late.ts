/** Folders with texts that come with their screens: one line each. Types alone: what is loaded is found by its name (kit/text.ts). */
import type account from '../account/late.zh_TW.ts';
import type analytics from '../analytics/late.zh_TW.ts';
import type kit from '../kit/late.zh_TW.ts';
import type licence from '../licence/late.zh_TW.ts';
import type node from '../node/late.zh_TW.ts';
import type resolution from '../resolution/late.zh_TW.ts';
import type site from '../site/late.zh_TW.ts';
import type system from '../system/late.zh_TW.ts';
import type traffic from '../traffic/late.zh_TW.ts';

export declare const late: {
  account: typeof account;
  analytics: typeof analytics;
  kit: typeof kit;
  licence: typeof licence;
  node: typeof node;
  resolution: typeof resolution;
  site: typeof site;
  system: typeof system;
  traffic: typeof traffic;
};
