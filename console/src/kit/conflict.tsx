/** Two people changed one row: both states side by side, and the person who came second chooses field by field. */
import { Alert, Button, Segmented } from 'antd';
import { useState } from 'react';
import type { Conflict } from './conflict-of.ts';
import type { FormField, Values } from './resource.ts';
import { t } from './text.ts';
import { dateTime } from './time.ts';
import { valueText } from './value-text.ts';

interface Props {
  conflict: Conflict;
  fields: readonly FormField[];
  isBusy: boolean;
  /** Values of the fields where the other side is kept. */
  onSettle: (theirs: Values) => void;
  onBack: () => void;
}

export function ConflictPanel({ conflict, fields, isBusy, onSettle, onBack }: Props) {
  const [mine, setMine] = useState<Readonly<Record<string, boolean>>>(() =>
    Object.fromEntries(conflict.sides.map(side => [side.name, side.isMine])),
  );
  const { by, at } = conflict;
  const theirs = () =>
    Object.fromEntries(conflict.sides.filter(side => !mine[side.name]).map(side => [side.name, side.theirs ?? undefined]));
  return (
    <section className="conflict" aria-label={t('conflict.title')}>
      <Alert
        type="warning"
        showIcon
        title={t('conflict.title')}
        description={by === null ? t('conflict.bySomebody', { at: dateTime(at) }) : t('conflict.by', { by, at: dateTime(at) })}
      />
      {conflict.sides.map(side => {
        const field = fields.find(one => one.name === side.name);
        return (
          <div key={side.name} className="conflict-field">
            <header>
              <b>{side.label}</b>
              <Segmented
                aria-label={side.label}
                value={mine[side.name] ? 'mine' : 'theirs'}
                options={[
                  { value: 'theirs', label: t('conflict.keepTheirs') },
                  { value: 'mine', label: t('conflict.keepMine') },
                ]}
                onChange={value => setMine({ ...mine, [side.name]: value === 'mine' })}
              />
            </header>
            <div className="conflict-sides">
              {(['theirs', 'mine'] as const).map(which => (
                <div key={which} className={(which === 'mine') === mine[side.name] ? 'chosen' : ''}>
                  <span className="ink-3">{t(`conflict.${which}`)}</span>
                  <pre>{valueText(field, side[which])}</pre>
                </div>
              ))}
            </div>
          </div>
        );
      })}
      <footer>
        <Button onClick={onBack} disabled={isBusy}>
          {t('conflict.back')}
        </Button>
        <Button type="primary" loading={isBusy} onClick={() => onSettle(theirs())}>
          {t('conflict.save')}
        </Button>
      </footer>
    </section>
  );
}
