/** The bar over a list in which rows are chosen: how many, all the others that match, and what can be done with them. */
import { Button } from 'antd';
import { useState } from 'react';
import { bulk } from '#contract/limits.ts';
import { allRowsMax } from './list-rows.ts';
import type { Row, RowAction } from './resource.ts';
import { isAllowed } from './row-menu.tsx';
import { t } from './text.ts';
import { number } from './units.ts';

interface Props {
  chosen: readonly Row[];
  actions: readonly RowAction<Row>[];
  /** How many match, when they are more than are chosen and the whole page is. */
  more: number | undefined;
  chooseAll: () => Promise<void>;
  clear: () => void;
  run: (action: RowAction<Row>) => Promise<void>;
}

export function ChosenBar({ chosen, actions, more, chooseAll, clear, run }: Props) {
  const [isBusy, setBusy] = useState(false);
  const during = (task: Promise<void>) => {
    setBusy(true);
    void task.finally(() => setBusy(false));
  };
  const label = t('list.chosen', { count: number(chosen.length) });
  // a form sends all in one call; what is a call alone is sent in turns
  const isTooMany = (action: RowAction<Row>) => chosen.length > bulk.idsMax && !action.isCall;
  const why = (action: RowAction<Row>) =>
    isTooMany(action)
      ? t('list.tooManyChosen', { count: number(bulk.idsMax) })
      : chosen.length === 1
        ? action.why?.(chosen[0]!)
        : undefined;
  return (
    <div className="toolbar toolbar-chosen" role="toolbar" aria-label={label}>
      <strong role="status">{label}</strong>
      {more !== undefined && (
        <Button size="small" type="link" loading={isBusy} onClick={() => during(chooseAll())}>
          {more > allRowsMax
            ? t('list.chooseFirst', { count: number(allRowsMax), total: number(more) })
            : t('list.chooseMatching', { count: number(more) })}
        </Button>
      )}
      {actions.map(action => (
        <Button
          key={action.name}
          size="small"
          danger={action.isDanger}
          disabled={isBusy || isTooMany(action) || !chosen.some(row => isAllowed(action, row))}
          title={why(action)}
          onClick={() => during(run(action))}
        >
          {t(`action.${action.name}`)}
        </Button>
      ))}
      <span className="grow" />
      <Button size="small" type="text" onClick={clear}>
        {t('list.clearChosen')}
      </Button>
    </div>
  );
}
