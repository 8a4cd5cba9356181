/**
 * Rows in an order of one's own, three or three thousand: dragged by pointer or finger, moved by keyboard (Space takes and drops, the
 * arrows, PageUp, PageDown, Home and End move, Escape puts back), or by writing the place. Native elements alone: with antd's in each
 * row it scrolls at a fifth of the speed.
 */
import './sort-list.css';
import { HolderOutlined } from '@ant-design/icons';
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Empty } from './empty.tsx';
import { inSight, moved, placeBy } from './sort-parts.ts';
import { t } from './text.ts';
import { number } from './units.ts';
import { WithWhy } from './why.tsx';

export interface SortRow {
  key: string | number;
  /** Said when it is moved. */
  name: string;
  content?: ReactNode;
}
export interface SortProps {
  label: string;
  rows: readonly SortRow[];
  /** All keys in their new order. */
  onSort?: (keys: SortRow['key'][]) => void;
  /** Why the order cannot be changed. */
  why?: string;
  isReadOnly?: boolean;
}

const rowPx = 44;
const borderPx = 1;
const heightMostPx = 484;
/** So near the edge a dragged row scrolls the list, and so far at a time. */
const edgePx = 40;
const edgeStepPx = 12;

export function SortList({ label, rows, onSort, why, isReadOnly = false }: SortProps) {
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  /** While a row is held: the order as it would be. */
  const [held, hold] = useState<{ key: SortRow['key']; from: number; at: number; isPointer: boolean }>();
  const [active, activate] = useState(0);
  const [said, say] = useState('');
  const help = useId();
  const isFixed = why !== undefined || isReadOnly || !onSort;
  const order = held ? moved(rows, held.from, held.at) : rows;
  const height = Math.min(heightMostPx, rows.length * rowPx);
  const page = Math.max(1, Math.floor(height / rowPx) - 1);
  const [from, to] = inSight(scrollTop, height, rowPx, rows.length);
  // the row that has the focus stays drawn, however far it is scrolled away
  const drawn = new Set(Array.from({ length: to - from }, (_, index) => from + index));
  drawn.add(Math.min(held?.at ?? active, rows.length - 1));
  const wantsFocus = useRef<'handle' | undefined>(undefined);

  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = undefined;
    box.current?.querySelector<HTMLElement>(`[data-at="${held?.at ?? active}"] .sort-handle`)?.focus({ preventScroll: true });
  });

  function reveal(at: number) {
    const list = box.current!;
    if (at * rowPx < list.scrollTop) list.scrollTop = at * rowPx;
    else if ((at + 1) * rowPx > list.scrollTop + height) list.scrollTop = (at + 1) * rowPx - height;
  }
  const placed = (name: string, at: number) => t('sort.at', { name, place: number(at + 1), count: number(rows.length) });

  function drop(at: number, start: number) {
    hold(undefined);
    activate(at);
    const row = rows[start]!;
    say(t('sort.dropped', { what: placed(row.name, at) }));
    if (at !== start) onSort?.(moved(rows, start, at).map(one => one.key));
  }
  function putBack() {
    if (!held) return;
    hold(undefined);
    activate(held.from);
    reveal(held.from);
    wantsFocus.current = 'handle';
    say(t('sort.putBack', { what: placed(rows[held.from]!.name, held.from) }));
  }
  function press(event: KeyboardEvent, at: number) {
    const row = order[at]!;
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      if (isFixed) return;
      wantsFocus.current = 'handle';
      if (held) return drop(held.at, held.from);
      hold({ key: row.key, from: at, at, isPointer: false });
      return say(t('sort.taken', { what: placed(row.name, at) }));
    }
    if (event.key === 'Escape' && held) {
      event.preventDefault();
      event.stopPropagation();
      return putBack();
    }
    const place = placeBy(event.key, at, rows.length, page);
    if (place === undefined) return undefined;
    event.preventDefault();
    wantsFocus.current = 'handle';
    reveal(place);
    if (!held) return activate(place);
    hold({ ...held, at: place });
    return say(placed(row.name, place));
  }

  /** Where the pointer is, in the list; near its edge the list goes on. */
  function placeUnder(clientY: number): number {
    const list = box.current!;
    const { top } = list.getBoundingClientRect();
    if (clientY < top + edgePx) list.scrollTop -= edgeStepPx;
    else if (clientY > top + height - edgePx) list.scrollTop += edgeStepPx;
    return Math.max(0, Math.min(rows.length - 1, Math.floor((clientY - top + list.scrollTop) / rowPx)));
  }
  function take(event: PointerEvent, at: number) {
    if (isFixed || event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    activate(at);
    hold({ key: order[at]!.key, from: at, at, isPointer: true });
  }
  const drag = (event: PointerEvent) => {
    if (held?.isPointer) hold({ ...held, at: placeUnder(event.clientY) });
  };
  const release = () => {
    if (held?.isPointer) drop(held.at, held.from);
  };

  if (!rows.length) return <Empty drawing="nothing" title={t('empty.nothing')} />;
  return (
    <WithWhy why={why}>
      {reason => (
        <div className="sort">
          <p id={help} className="unseen">
            {isFixed ? '' : t('sort.help')}
          </p>
          <div
            ref={box}
            className="sort-box"
            style={{ height: height + 2 * borderPx }}
            role="list"
            aria-label={label}
            onScroll={event => setScrollTop(event.currentTarget.scrollTop)}
          >
            <div className="sort-all" style={{ height: rows.length * rowPx }} role="presentation">
              {[...drawn]
                .filter(at => at >= 0)
                .sort((a, b) => a - b)
                .map(at => {
                  const row = order[at]!;
                  return (
                    <div
                      key={row.key}
                      className={row.key === held?.key ? 'sort-row sort-held' : 'sort-row'}
                      style={{ transform: `translateY(${at * rowPx}px)` }}
                      role="listitem"
                      aria-posinset={at + 1}
                      aria-setsize={rows.length}
                      data-at={at}
                    >
                      <button
                        type="button"
                        className="sort-handle"
                        tabIndex={at === (held?.at ?? Math.min(active, rows.length - 1)) ? 0 : -1}
                        aria-label={t('sort.move', { name: row.name })}
                        aria-describedby={reason ?? help}
                        aria-pressed={row.key === held?.key}
                        disabled={isFixed}
                        onKeyDown={event => press(event, at)}
                        onPointerDown={event => take(event, at)}
                        onPointerMove={drag}
                        onPointerUp={release}
                        onPointerCancel={putBack}
                        onBlur={() => held && !held.isPointer && !wantsFocus.current && putBack()}
                      >
                        <HolderOutlined />
                      </button>
                      <Place
                        key={at}
                        at={at}
                        count={rows.length}
                        name={row.name}
                        isFixed={isFixed}
                        isActive={at === (held?.at ?? Math.min(active, rows.length - 1))}
                        onPlace={next => {
                          drop(next, at);
                          reveal(next);
                          wantsFocus.current = 'handle';
                        }}
                      />
                      <span className="sort-content">{row.content ?? row.name}</span>
                    </div>
                  );
                })}
            </div>
          </div>
          <span className="unseen" role="status">
            {said}
          </span>
        </div>
      )}
    </WithWhy>
  );
}

interface PlaceProps {
  at: number;
  count: number;
  name: string;
  isFixed: boolean;
  /** Reached by Tab, after its handle. */
  isActive: boolean;
  onPlace: (at: number) => void;
}

/** The place as a number: among thousands it is written, not dragged. */
function Place({ at, count, name, isFixed, isActive, onPlace }: PlaceProps) {
  const [typed, setTyped] = useState<string>();
  function leave() {
    const place = Number(typed);
    setTyped(undefined);
    if (typed !== undefined && Number.isInteger(place) && place >= 1 && place !== at + 1) onPlace(Math.min(place, count) - 1);
  }
  return (
    <input
      className="sort-place numbers"
      inputMode="numeric"
      aria-label={t('sort.place', { name })}
      tabIndex={isActive ? 0 : -1}
      readOnly={isFixed}
      value={typed ?? String(at + 1)}
      onChange={event => setTyped(event.target.value)}
      onFocus={event => event.target.select()}
      onBlur={leave}
      onKeyDown={event => {
        if (event.key === 'Enter') {
          event.preventDefault();
          leave();
        }
        if (event.key === 'Escape') setTyped(undefined);
      }}
    />
  );
}
