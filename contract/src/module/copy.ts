/** A module with its rows, copied to other sites: with thousands of redirects to hundreds of sites that is no matter of one call. */
import { bool, id, ids, obj, text } from '../kit/schema.ts';
import { taskOf } from '../kit/task.ts';

export const copyModule = taskOf({
  name: 'copyModule',
  resource: 'modules',
  of: 'account',
  input: obj({ type: text(64), siteID: id(), moduleID: id(), siteIDs: ids(), overwrite: bool() }),
  about: ['name', 'count'],
  says: { copied: ['site'], replaced: ['site'], skipped: ['site'], notCopied: ['site'], unfit: ['site', 'count', 'value'] },
});
