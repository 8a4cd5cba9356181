/** What the shell and the screens in it say: one line for each folder. */
import account from '../account/text.zh_TW.ts';
import analytics from '../analytics/text.zh_TW.ts';
import cache from '../cache/text.zh_TW.ts';
import domain from '../domain/text.zh_TW.ts';
import licence from '../licence/text.zh_TW.ts';
import module from '../module/text.zh_TW.ts';
import node from '../node/text.zh_TW.ts';
import protect from '../protect/text.zh_TW.ts';
import resolution from '../resolution/text.zh_TW.ts';
import site from '../site/text.zh_TW.ts';
import system from '../system/text.zh_TW.ts';
import traffic from '../traffic/text.zh_TW.ts';
import common from './common.zh_TW.ts';

export const app = {
  ...common,
  ...account,
  ...analytics,
  ...cache,
  ...domain,
  ...licence,
  ...module,
  ...node,
  ...protect,
  ...resolution,
  ...site,
  ...system,
  ...traffic,
};
export default app;
