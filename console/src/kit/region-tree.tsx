/** Continents, their countries, their regions: chosen in whole or in part, found by name in the reader's language, in English or by code. */
import './region-tree.css';
import { RightOutlined } from '@ant-design/icons';
import { Button, Input } from 'antd';
import { type KeyboardEvent, useMemo, useState } from 'react';
import {
  type Choice,
  chosenIn,
  indexOf,
  type Line,
  linesOf,
  named,
  type Region,
  type RegionID,
  toggled,
} from './region-parts.ts';
import { RowWindow } from './row-window.tsx';
import { languageTag, t, tOf } from './text.ts';
import { number } from './units.ts';
import { useNarrow } from './use-narrow.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

export interface RegionTreeProps extends InputLook {
  /** undefined: on their way */
  regions: readonly Region[] | undefined;
  value?: readonly RegionID[];
  /** A country of which all is chosen stands for its regions, a continent for its countries. */
  onChange?: (value: RegionID[]) => void;
}

const none: readonly RegionID[] = [];
const rowsMost = 9;
/** So many are named below the tree; of more their number is said. */
const namedMost = 12;
const checks: Record<Choice, 'true' | 'false' | 'mixed'> = { all: 'true', some: 'mixed', none: 'false' };

export function RegionTree({ regions, value = none, onChange, why, isReadOnly = false, id, ...look }: RegionTreeProps) {
  const isNarrow = useNarrow();
  const [typed, type] = useState('');
  const [open, setOpen] = useState<ReadonlySet<RegionID>>(() => new Set());
  const [active, activate] = useState(0);
  const tree = useMemo(() => named(regions ?? [], languageTag, code => tOf('continent', code)), [regions]);
  const index = useMemo(() => indexOf(tree), [tree]);
  const lines = useMemo(() => linesOf(tree, open, typed), [tree, open, typed]);
  const choiceOf = useMemo(() => chosenIn(index, value), [index, value]);
  const isFixed = why !== undefined || isReadOnly || !onChange;
  const label = look['aria-label'] ?? t('region.label');
  const chosen = [...index.values()].filter(node => value.includes(node.id));

  const press = (line: Line) => !isFixed && onChange?.(toggled(index, value, line.node.id));
  function unfold({ node, isOpen }: Line) {
    if (!node.of.length) return;
    const next = new Set(open);
    if (isOpen) next.delete(node.id);
    else next.add(node.id);
    setOpen(next);
  }
  /** As trees go: right opens and then goes in, left closes and then goes out. */
  function key(event: KeyboardEvent, at: number): boolean {
    const line = lines[at]!;
    switch (event.key) {
      case ' ':
      case 'Enter':
        press(line);
        return true;
      case 'ArrowRight':
        if (line.isOpen) move(at + 1);
        else unfold(line);
        return true;
      case 'ArrowLeft':
        // what a search holds open stays open
        if (line.isOpen && open.has(line.node.id)) unfold(line);
        else if (line.node.parent) move(lines.findIndex(one => one.node === line.node.parent));
        return true;
      default:
        return false;
    }
  }
  const [moves, setMoves] = useState(0);
  function move(to: number) {
    activate(to);
    setMoves(moves + 1);
  }

  return (
    <WithWhy why={why}>
      {reason => (
        <div
          className="regions"
          role="group"
          aria-label={label}
          aria-describedby={look['aria-describedby'] ?? reason}
          data-invalid={isInvalid(look) || undefined}
        >
          <Input
            id={id}
            allowClear
            aria-label={t('region.search')}
            placeholder={t('region.search')}
            spellCheck={false}
            autoComplete="off"
            disabled={regions === undefined}
            value={typed}
            onChange={event => {
              type(event.target.value);
              activate(0);
            }}
            onPressEnter={event => event.preventDefault()}
          />
          {lines.length ? (
            <RowWindow
              role="tree"
              label={label}
              count={lines.length}
              rowPx={isNarrow ? 44 : 32}
              heightMostPx={(isNarrow ? 44 : 32) * rowsMost}
              active={active}
              onActive={activate}
              moves={moves}
              onKey={key}
              row={(at, place) => {
                const line = lines[at]!;
                const { node, level } = line;
                return (
                  <div
                    key={node.id}
                    {...place}
                    role="treeitem"
                    aria-level={level}
                    aria-posinset={line.place}
                    aria-setsize={line.size}
                    aria-expanded={node.of.length ? line.isOpen : undefined}
                    aria-checked={checks[choiceOf(node)]}
                    aria-disabled={isFixed}
                    aria-label={node.name}
                    onClick={() => press(line)}
                  >
                    <span
                      className={line.isOpen ? 'region-fold region-open' : 'region-fold'}
                      style={{ marginInlineStart: (level - 1) * (isNarrow ? 16 : 20) }}
                      aria-hidden
                      onClick={event => {
                        event.stopPropagation();
                        unfold(line);
                      }}
                    >
                      {node.of.length > 0 && <RightOutlined />}
                    </span>
                    <span className="row-box" aria-hidden />
                    <span className="row-text">{node.name}</span>
                    {node.of.length > 0 && <span className="ink-3 numbers">{number(node.of.length)}</span>}
                  </div>
                );
              }}
            />
          ) : (
            <div className="regions-empty ink-3" role="status" aria-busy={regions === undefined || undefined}>
              {t(regions === undefined ? 'page.loading' : typed.trim() ? 'empty.noMatch' : 'empty.nothing')}
            </div>
          )}
          <div className="regions-foot">
            <span className="regions-chosen" role="status">
              {chosen.length === 0
                ? t('region.none')
                : t('region.chosen', {
                    names: chosen
                      .slice(0, namedMost)
                      .map(node => node.name)
                      .join(t('region.comma')),
                  })}
              {chosen.length > namedMost && t('region.more', { count: number(chosen.length - namedMost) })}
            </span>
            {!isFixed && chosen.length > 0 && (
              <Button size="small" type="link" onClick={() => onChange?.(value.filter(one => !index.has(one)))}>
                {t('region.clear')}
              </Button>
            )}
          </div>
        </div>
      )}
    </WithWhy>
  );
}
