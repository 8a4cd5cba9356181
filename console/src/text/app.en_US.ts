/** What the shell and the screens in it say: one line for each folder. */
import account from '../account/text.en_US.ts';
import analytics from '../analytics/text.en_US.ts';
import cache from '../cache/text.en_US.ts';
import domain from '../domain/text.en_US.ts';
import licence from '../licence/text.en_US.ts';
import module from '../module/text.en_US.ts';
import node from '../node/text.en_US.ts';
import protect from '../protect/text.en_US.ts';
import resolution from '../resolution/text.en_US.ts';
import site from '../site/text.en_US.ts';
import system from '../system/text.en_US.ts';
import traffic from '../traffic/text.en_US.ts';
import common from './common.en_US.ts';

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
