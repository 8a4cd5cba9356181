/**
 * Many chosen among many: what there is on the left, searched and paged by the server where that is a long list, what is chosen on the
 * right. A press chooses, another takes back; with Shift all between.
 */
import './transfer.css';
import { Button, Input } from 'antd';
import { type KeyboardEvent, type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { Choice, Found } from './choices.ts';
import { ErrorState } from './empty.tsx';
import { RowWindow } from './row-window.tsx';
import { t } from './text.ts';
import { number } from './units.ts';
import { useNarrow } from './use-narrow.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

type Value = Choice['value'];
export interface TransferProps extends InputLook {
  found: Found;
  value?: readonly Value[];
  onChange?: (value: Value[]) => void;
}

const containing = (choices: readonly Choice[], typed: string) => {
  const text = typed.trim().toLowerCase();
  return text ? choices.filter(({ label }) => label.toLowerCase().includes(text)) : choices;
};

export function Transfer({ found, value = [], onChange, why, isReadOnly = false, id, ...look }: TransferProps) {
  const { options, isPending, search, more } = found;
  const [typed, type] = useState('');
  const [said, say] = useState('');
  const [isAllWanted, wantAll] = useState(false);
  const help = useId();
  // what is chosen keeps its name although it may stand on none of the pages that were looked for last
  const names = useRef(new Map<Value, string>());
  for (const one of options) names.current.set(one.value, one.label);
  const isFixed = why !== undefined || isReadOnly || !onChange;
  const shown = search ? options : containing(options, typed);
  const total = search ? (found.total ?? options.length) : shown.length;
  const isChosen = new Set(value);
  const free = (choices: readonly Choice[]) => choices.filter(one => !one.disabled && !isChosen.has(one.value));
  const chosen = value.map(one => ({ value: one, label: names.current.get(one) ?? String(one) }));

  function give(choices: readonly Choice[]) {
    const added = free(choices);
    if (!added.length) return;
    onChange?.([...value, ...added.map(one => one.value)]);
    const params = { name: added[0]!.label, more: number(added.length), count: number(value.length + added.length) };
    say(t(added.length === 1 ? 'transfer.added' : 'transfer.addedMany', params));
  }
  function take(choices: readonly Choice[]) {
    const gone = new Set(choices.map(one => one.value));
    const left = value.filter(one => !gone.has(one));
    if (left.length === value.length) return;
    onChange?.(left);
    const params = { name: choices[0]!.label, more: number(value.length - left.length), count: number(left.length) };
    say(t(choices.length === 1 ? 'transfer.removed' : 'transfer.removedMany', params));
  }
  // all that match may be more than has come so far: the rest is asked for first
  useEffect(() => {
    if (!isAllWanted || isPending) return;
    if (more && !found.error) return more();
    wantAll(false);
    give(shown);
    // oxlint-disable-next-line react/exhaustive-deps -- with every page that comes
  }, [isAllWanted, isPending, options.length]);

  return (
    <WithWhy why={why}>
      {reason => (
        <div
          className="transfer"
          role="group"
          aria-label={look['aria-label']}
          aria-describedby={look['aria-describedby'] ?? reason}
          data-invalid={isInvalid(look) || undefined}
        >
          <p id={help} className="unseen">
            {isFixed ? '' : t('transfer.help')}
          </p>
          <Pane
            id={id}
            title={t('transfer.left')}
            count={t('transfer.of', { count: number(total) })}
            help={help}
            choices={shown}
            total={total}
            isOn={one => isChosen.has(one.value)}
            isFixed={isFixed}
            isPending={isPending}
            typed={typed}
            onType={text => {
              type(text);
              wantAll(false);
              search?.(text);
            }}
            searchText={t('transfer.searchLeft')}
            empty={
              found.error ? (
                <ErrorState error={found.error} onRetry={found.retry} />
              ) : isPending ? (
                t('page.loading')
              ) : (
                t(typed.trim() ? 'empty.noMatch' : 'empty.nothing')
              )
            }
            onEnd={more}
            onPress={(pressed, isOn) => (isOn ? take(pressed) : give(pressed))}
            all={
              <Button
                size="small"
                type="link"
                loading={isAllWanted}
                disabled={total === 0 || (!more && !free(shown).length)}
                onClick={() => wantAll(true)}
              >
                {t('transfer.all', { count: number(total) })}
              </Button>
            }
          />
          <Chosen chosen={chosen} help={help} isFixed={isFixed} onTake={take} />
          <span className="unseen" role="status">
            {said}
          </span>
        </div>
      )}
    </WithWhy>
  );
}

function Chosen({
  chosen,
  help,
  isFixed,
  onTake,
}: {
  chosen: readonly Choice[];
  help: string;
  isFixed: boolean;
  onTake: (choices: readonly Choice[]) => void;
}) {
  const [typed, type] = useState('');
  const shown = containing(chosen, typed);
  return (
    <Pane
      title={t('transfer.right')}
      count={t('transfer.of', { count: number(chosen.length) })}
      help={help}
      choices={shown}
      total={shown.length}
      isOn={() => true}
      isFixed={isFixed}
      typed={typed}
      onType={type}
      searchText={t('transfer.searchRight')}
      empty={t(typed.trim() ? 'empty.noMatch' : 'transfer.none')}
      onPress={onTake}
      all={
        <Button size="small" type="link" disabled={!shown.length} onClick={() => onTake(shown)}>
          {t('transfer.takeAll')}
        </Button>
      }
    />
  );
}

interface PaneProps {
  id?: string;
  title: string;
  count: string;
  help: string;
  choices: readonly Choice[];
  /** How many there are, loaded or not. */
  total: number;
  isOn: (choice: Choice) => boolean;
  isFixed: boolean;
  isPending?: boolean;
  typed: string;
  onType: (text: string) => void;
  searchText: string;
  empty: ReactNode;
  onEnd?: () => void;
  /** These, of which the one that was pressed is on or off. */
  onPress: (choices: readonly Choice[], isOn: boolean) => void;
  all: ReactNode;
}
const rowsMost = { wide: 8, narrow: 5 } as const;

function Pane({
  id,
  title,
  count,
  help,
  choices,
  total,
  isOn,
  isFixed,
  isPending = false,
  typed,
  onType,
  searchText,
  empty,
  onEnd,
  onPress,
  all,
}: PaneProps) {
  const isNarrow = useNarrow();
  const [active, activate] = useState(0);
  const anchor = useRef(0);
  const rowPx = isNarrow ? 44 : 32;

  function press(at: number, isRange: boolean) {
    const one = choices[at]!;
    if (isFixed || one.disabled) return;
    activate(at);
    const [from, to] = isRange ? [Math.min(anchor.current, at), Math.max(anchor.current, at)] : [at, at];
    anchor.current = at;
    onPress(choices.slice(from, to + 1), isOn(one));
  }
  function key(event: KeyboardEvent, at: number): boolean {
    if (event.key !== ' ' && event.key !== 'Enter') return false;
    press(at, event.shiftKey);
    return true;
  }
  return (
    <section className="transfer-pane" aria-label={title}>
      <header className="transfer-head">
        <strong>{title}</strong>
        <span className="ink-3 numbers">{count}</span>
        <span className="grow" />
        {!isFixed && all}
      </header>
      <Input
        id={id}
        allowClear
        aria-label={searchText}
        placeholder={searchText}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={event => onType(event.target.value)}
        // a form would be sent
        onPressEnter={event => event.preventDefault()}
      />
      {choices.length ? (
        <RowWindow
          role="listbox"
          label={title}
          describedBy={help}
          isBusy={isPending}
          count={choices.length}
          rowPx={rowPx}
          heightMostPx={rowPx * (isNarrow ? rowsMost.narrow : rowsMost.wide)}
          active={active}
          onActive={activate}
          onKey={key}
          onEnd={onEnd}
          row={(at, place) => {
            const one = choices[at]!;
            return (
              <div
                key={one.value}
                {...place}
                role="option"
                aria-selected={isOn(one)}
                aria-disabled={isFixed || one.disabled}
                aria-posinset={at + 1}
                aria-setsize={total}
                title={one.label}
                onClick={(event: MouseEvent) => press(at, event.shiftKey)}
              >
                <span className="row-box" aria-hidden />
                <span className="row-text">{one.label}</span>
              </div>
            );
          }}
        />
      ) : (
        <div className="transfer-empty ink-3" aria-busy={isPending || undefined}>
          {empty}
        </div>
      )}
    </section>
  );
}
