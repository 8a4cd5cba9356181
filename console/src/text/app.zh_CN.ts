/** What the shell and the screens in it say: one line for each folder. */
import account from '../account/text.zh_CN.ts';
import analytics from '../analytics/text.zh_CN.ts';
import cache from '../cache/text.zh_CN.ts';
import domain from '../domain/text.zh_CN.ts';
import licence from '../licence/text.zh_CN.ts';
import module from '../module/text.zh_CN.ts';
import node from '../node/text.zh_CN.ts';
import protect from '../protect/text.zh_CN.ts';
import resolution from '../resolution/text.zh_CN.ts';
import site from '../site/text.zh_CN.ts';
import system from '../system/text.zh_CN.ts';
import traffic from '../traffic/text.zh_CN.ts';
import common from './common.zh_CN.ts';

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
