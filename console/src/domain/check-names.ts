/** Looks now where the chosen domains lead; of those that nobody could say it of, it says why, for their state is what was seen before. */
import { unseenReasons } from '#contract/limits.ts';
import type { AnswerOf, RowOf } from '../kit/client.ts';
import { notify } from '../kit/notice.ts';
import type { RowAction } from '../kit/resource.ts';
import { t } from '../kit/text.ts';

const check = 'POST /{area}/site/{siteID}/domains/checkCNAME';
type Seen = AnswerOf<typeof check>[number];

/** One sentence for each reason, with the first names of it. */
export function unseenTexts(seen: readonly Pick<Seen, 'domainName' | 'reason'>[]): string[] {
  return unseenReasons.flatMap(reason => {
    const [first, ...others] = seen.filter(one => one.reason === reason);
    if (!first) return [];
    const why = t(`cnameUnseen.${reason}`);
    return others.length
      ? t('domains.unseenMany', { name: first.domainName, count: others.length + 1, why })
      : t('domains.unseenOne', { name: first.domainName, why });
  });
}

export const checkNames: RowAction<RowOf<'GET /{area}/site/{siteID}/domains'>> = {
  name: 'checkCNAME',
  call: check,
  isBatch: true,
  isCall: true,
  run: (rows, { send }) =>
    send(
      check,
      { ids: rows.map(row => row.id) },
      {
        otherwise: t('message.detectionFailed'),
        told: answers => {
          // the call's own, one of each turn
          const seen = (answers as AnswerOf<typeof check>[]).flat();
          const unseen = unseenTexts(seen);
          if (unseen.length === 0) notify.success(t('message.detectionSuccess'));
          for (const text of unseen) notify.error(text);
        },
      },
    ),
};
