/**
 * Rows of one height, ten or ten thousand, of which only those in sight are drawn. One of them takes the focus; the arrows, PageUp,
 * PageDown, Home and End go through all of them, and whoever stands on a row that goes away stands on its neighbour.
 */
import './row-window.css';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { inSight, placeBy } from './sort-parts.ts';

/** What the element of a row is given. */
export interface RowPlace {
  tabIndex: number;
  style: { height: number; transform: string };
  'data-at': number;
}
interface Props {
  role: 'listbox' | 'tree';
  label: string;
  count: number;
  rowPx: number;
  heightMostPx: number;
  /** Which row is reached by Tab. */
  active: number;
  onActive: (at: number) => void;
  /** Counts up when the caller moved the focus to another row. */
  moves?: number;
  /** Keys beyond those that move; true: it was meant for the row. */
  onKey?: (event: KeyboardEvent, at: number) => boolean;
  /** The last row is nearly in sight. */
  onEnd?: () => void;
  row: (at: number, place: RowPlace) => ReactNode;
  describedBy?: string;
  isBusy?: boolean;
}
const borderPx = 1;

export function RowWindow({
  role,
  label,
  count,
  rowPx,
  heightMostPx,
  active,
  onActive,
  moves = 0,
  onKey,
  onEnd,
  row,
  describedBy,
  isBusy,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const isInside = useRef(false);
  const wantsFocus = useRef(false);
  const seenMoves = useRef(moves);
  const height = Math.min(heightMostPx, count * rowPx);
  const at = Math.max(0, Math.min(active, count - 1));
  // fewer rows than a moment ago: what was scrolled to may be gone
  const top = Math.max(0, Math.min(scrollTop, count * rowPx - height));
  const [from, to] = inSight(top, height, rowPx, count);
  const drawn = new Set(Array.from({ length: to - from }, (_, index) => from + index));
  if (count) drawn.add(at);

  useEffect(() => {
    if (seenMoves.current !== moves) {
      seenMoves.current = moves;
      reveal(at);
      wantsFocus.current = true;
    }
    const isLost = isInside.current && document.activeElement === document.body;
    if (!wantsFocus.current && !isLost) return;
    wantsFocus.current = false;
    (box.current?.querySelector<HTMLElement>(`[data-at="${at}"]`) ?? box.current)?.focus({ preventScroll: true });
  });
  useEffect(() => {
    if (count && to >= count) onEnd?.();
    // oxlint-disable-next-line react/exhaustive-deps -- asked for when the end comes in sight, not with every drawing
  }, [to, count]);

  function reveal(place: number) {
    const list = box.current!;
    if (place * rowPx < list.scrollTop) list.scrollTop = place * rowPx;
    else if ((place + 1) * rowPx > list.scrollTop + height) list.scrollTop = (place + 1) * rowPx - height;
  }
  function go(place: number) {
    reveal(place);
    wantsFocus.current = true;
    onActive(place);
  }
  function press(event: KeyboardEvent) {
    if (!count) return;
    if (onKey?.(event, at)) return event.preventDefault();
    const place = placeBy(event.key, at, count, Math.max(1, Math.floor(height / rowPx) - 1));
    if (place === undefined || event.altKey || event.ctrlKey || event.metaKey) return undefined;
    event.preventDefault();
    return go(place);
  }
  return (
    <div
      ref={box}
      className="row-window"
      // an empty list of choices is none for who hears it; the words in it say so
      role={count ? role : 'group'}
      aria-label={label}
      aria-describedby={describedBy}
      aria-busy={isBusy}
      aria-multiselectable={count ? true : undefined}
      tabIndex={-1}
      style={{ height: height + 2 * borderPx }}
      onScroll={event => setScrollTop(event.currentTarget.scrollTop)}
      onKeyDown={press}
      onFocus={event => {
        isInside.current = true;
        // clicks come from elements
        const place = (event.target as Element).closest('[data-at]')?.getAttribute('data-at');
        if (place != null && Number(place) !== at) onActive(Number(place));
      }}
      onBlur={() => (isInside.current = false)}
    >
      <div style={{ height: count * rowPx }} role="presentation">
        {[...drawn]
          .sort((a, b) => a - b)
          .map(place =>
            row(place, {
              tabIndex: place === at ? 0 : -1,
              style: { height: rowPx, transform: `translateY(${place * rowPx}px)` },
              'data-at': place,
            }),
          )}
      </div>
    </div>
  );
}
