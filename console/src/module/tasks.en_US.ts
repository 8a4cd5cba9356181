import type { SameAs } from '../kit/text.ts';
import type texts from './tasks.zh_TW.ts';

export default {
  'task.copyModule': 'Copy the module “{name}” to {count} {count, one: site, other: sites}',
  'taskLine.copyModule.copied': 'Copied to {site}',
  'taskLine.copyModule.replaced': 'Replaced the module of that name in {site}',
  'taskLine.copyModule.skipped': '{site} has one of this name already: left as it is',
  'taskLine.copyModule.notCopied': 'Not copied to {site}:',
  'taskLine.copyModule.unfit':
    'Not copied to {site}: {count} {count, one: row, other: rows} of the module would no longer be accepted. Mend “{value}” first:',
} satisfies SameAs<typeof texts>;
