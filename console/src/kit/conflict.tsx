/** Two people changed one row: both states side by side, and the person who came second chooses field by field. */
import { Alert, Button, Segmented } from 'antd';
import { useState } from 'react';
import { isSame } from './form-state.ts';
import type { FieldName, FormField, Values } from './resource.ts';
import { t, textOf } from './text.ts';
import { dateTime } from './time.ts';
import { ApiError } from './transport.ts';

/** What 409 tells (server/src/kit/stale.ts). */
interface Told {
  version: number;
  now: Values;
  by: string | null;
  at: string | null;
}
interface Side {
  name: string;
  label: string;
  theirs: unknown;
  mine: unknown;
  /** The person changed it too; what was left alone goes to whoever changed it. */
  isMine: boolean;
}
export interface Conflict extends Told {
  sides: Side[];
}

/** The conflict an error tells of; undefined where it tells of something else. `base`: the values the form began with. */
export function conflictOf(error: unknown, fields: readonly FormField[], base: Values, mine: Values): Conflict | undefined {
  if (!(error instanceof ApiError) || error.status !== 409 || !Array.isArray(error.errorData)) return undefined;
  const names = (error.errorData as { path: string; rule: string }[]).filter(one => one.rule === 'stale').map(one => one.path);
  const told = error.extra as Told | undefined;
  if (!names.length || !told?.now) return undefined;
  const sides = names.map((name): Side => {
    const field = fields.find(one => one.name === name);
    const label = textOf(`field.${(field?.label ?? name) as FieldName}`) ?? name;
    return { name, label, theirs: told.now[name], mine: mine[name], isMine: !isSame(base[name], mine[name]) };
  });
  return { ...told, sides };
}

/** A value as people read it: choices and switches by their words, rows of fields a line each. */
function shown(field: FormField | undefined, value: unknown): string {
  if (value === undefined || value === null || value === '' || (Array.isArray(value) && !value.length)) return '–';
  if (field && 'texts' in field && field.texts) return textOf(`${field.texts}.${String(value)}`) ?? String(value);
  if (typeof value === 'boolean') return t(value ? 'state.enabled' : 'state.disabled');
  if (Array.isArray(value)) return value.map(one => shown(undefined, one)).join('\n');
  if (typeof value === 'object')
    return Object.entries(value)
      .filter(([name]) => !['id', 'createdAt', 'updatedAt', 'deletedAt', 'version'].includes(name))
      .map(([, one]) => shown(undefined, one))
      .join(' · ');
  return String(value);
}

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
                  <pre>{shown(field, side[which])}</pre>
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
