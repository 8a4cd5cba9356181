/**
 * Hours of a week, painted on a grid: drawn over with the pointer, by keyboard, or with a finger, which taps hours or, held down a moment,
 * paints while it moves (moved at once it scrolls). On a telephone the days stand beside each other and the hours go down.
 */
import './schedule.css';
import { Button } from 'antd';
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef, useState } from 'react';
import {
  type Cells,
  cellsOf,
  hoursOfDay,
  type HourRange,
  painted,
  type Place,
  placeAfter,
  rangesOf,
  runsOf,
  together,
} from './schedule-parts.ts';
import { languageTag, t } from './text.ts';
import { useNarrow } from './use-narrow.ts';
import { type InputLook, isInvalid, WithWhy } from './why.tsx';

export interface ScheduleProps extends InputLook {
  value?: readonly HourRange[];
  onChange?: (value: HourRange[]) => void;
}

const holdMs = 300;
const daysOfWeek = 7;
const firstMonday = Date.UTC(2024, 0, 1);
const dayMs = 86_400_000;
const dayNames = (style: 'long' | 'short') => {
  const format = new Intl.DateTimeFormat(languageTag, { weekday: style, timeZone: 'UTC' });
  return Array.from({ length: daysOfWeek }, (_, day) => format.format(firstMonday + day * dayMs));
};
const clock = (hour: number) => `${String(hour).padStart(2, '0')}:00`;
const span = (from: number, to: number) => `${clock(from)}–${clock(to)}`;
const hours = Array.from({ length: hoursOfDay }, (_, hour) => hour);
const days = Array.from({ length: daysOfWeek }, (_, day) => day);
const nothing: readonly HourRange[] = [];
const workHours = { from: 9, to: 18, days: 5 } as const;

/** While something is drawn: where it began, where it is, and whether it takes or leaves hours. */
interface Stroke {
  from: Place;
  to: Place;
  isOn: boolean;
}

export function Schedule({ value = nothing, onChange, why, isReadOnly = false, id, ...look }: ScheduleProps) {
  const isTurned = useNarrow();
  const [stroke, draw] = useState<Stroke>();
  const [active, activate] = useState<Place>({ day: 0, hour: 9 });
  const [said, say] = useState('');
  const table = useRef<HTMLTableElement>(null);
  const hold = useRef<ReturnType<typeof setTimeout>>(undefined);
  const wantsFocus = useRef(false);
  const names = useMemo(() => ({ long: dayNames('long'), short: dayNames('short') }), []);
  const kept = useMemo(() => cellsOf(value), [value]);
  const cells = stroke ? painted(kept, stroke.from, stroke.to, stroke.isOn) : kept;
  const isFixed = why !== undefined || isReadOnly || !onChange;
  const isPainting = stroke !== undefined;

  const nameOf = ({ day, hour }: Place) => `${names.long[day]} ${span(hour, hour + 1)}`;
  const put = (next: Cells) => onChange?.(rangesOf(next));
  const tell = (place: Place, isOn: boolean) => say(t(isOn ? 'schedule.on' : 'schedule.off', { what: nameOf(place) }));

  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    table.current?.querySelector<HTMLElement>('td[tabindex="0"]')?.focus();
  }, [active]);
  // a finger that paints does not scroll: said to the browser by a listener that is not passive, which React's are
  useEffect(() => {
    const stay = (event: TouchEvent) => isPainting && event.preventDefault();
    const box = table.current!;
    box.addEventListener('touchmove', stay, { passive: false });
    return () => box.removeEventListener('touchmove', stay);
  }, [isPainting]);
  useEffect(() => () => clearTimeout(hold.current), []);

  function press(event: PointerEvent, at: Place) {
    if (isFixed || event.button !== 0) return;
    const begin = () => draw({ from: at, to: at, isOn: !kept[at.day]![at.hour] });
    activate(at);
    if (event.pointerType !== 'touch') return begin();
    clearTimeout(hold.current);
    hold.current = setTimeout(begin, holdMs);
    return undefined;
  }
  function over(event: PointerEvent) {
    if (!stroke) return;
    const cell = document.elementFromPoint(event.clientX, event.clientY)?.closest<HTMLElement>('[data-hour]');
    if (!cell || !table.current!.contains(cell)) return;
    const to = { day: Number(cell.dataset['day']), hour: Number(cell.dataset['hour']) };
    if (to.day !== stroke.to.day || to.hour !== stroke.to.hour) draw({ ...stroke, to });
  }
  function release(event: PointerEvent, at: Place) {
    const isTap = event.pointerType === 'touch' && !stroke && hold.current !== undefined;
    cancel();
    if (isTap) return flip(at);
    if (!stroke) return undefined;
    put(painted(kept, stroke.from, stroke.to, stroke.isOn));
    activate(stroke.to);
    return tell(stroke.to, stroke.isOn);
  }
  /** Also what happens when the finger scrolls instead. */
  function cancel() {
    clearTimeout(hold.current);
    hold.current = undefined;
    draw(undefined);
  }
  function flip(at: Place) {
    if (isFixed) return;
    const isOn = !kept[at.day]![at.hour];
    put(painted(kept, at, at, isOn));
    tell(at, isOn);
  }
  /** All of them on, or off where they were on already. */
  function flipAll(from: Place, to: Place, name: string) {
    const every = painted(kept, from, to, true);
    const isOn = rangesOf(every).length !== rangesOf(kept).length || JSON.stringify(every) !== JSON.stringify(kept);
    put(painted(kept, from, to, isOn));
    say(t(isOn ? 'schedule.on' : 'schedule.off', { what: name }));
  }
  function key(event: KeyboardEvent, at: Place) {
    if (event.key === ' ' || event.key === 'Enter') {
      event.preventDefault();
      return flip(at);
    }
    const to = placeAfter(event.key, at, isTurned);
    if (!to) return undefined;
    event.preventDefault();
    wantsFocus.current = true;
    activate(to);
    // as it is here it becomes on the way
    const isOn = kept[at.day]![at.hour]!;
    if (event.shiftKey && !isFixed && kept[to.day]![to.hour] !== isOn) {
      put(painted(kept, at, to, isOn));
      tell(to, isOn);
    }
    return undefined;
  }

  const cell = (day: number, hour: number) => {
    const at = { day, hour };
    return (
      <td
        key={`${day} ${hour}`}
        role="gridcell"
        data-day={day}
        data-hour={hour}
        tabIndex={active.day === day && active.hour === hour ? 0 : -1}
        aria-selected={cells[day]![hour]}
        aria-label={nameOf(at)}
        onPointerDown={event => press(event, at)}
        onPointerUp={event => release(event, at)}
        onKeyDown={event => key(event, at)}
        onFocus={() => activate(at)}
      />
    );
  };
  const dayHead = (day: number) => (
    <th key={day} scope={isTurned ? 'col' : 'row'}>
      <button
        type="button"
        disabled={isFixed}
        aria-label={names.long[day]}
        onClick={() => flipAll({ day, hour: 0 }, { day, hour: hoursOfDay - 1 }, names.long[day]!)}
      >
        {names.short[day]}
      </button>
    </th>
  );
  const hourHead = (hour: number) => (
    <th key={hour} scope={isTurned ? 'row' : 'col'}>
      <button
        type="button"
        disabled={isFixed}
        aria-label={span(hour, hour + 1)}
        onClick={() => flipAll({ day: 0, hour }, { day: daysOfWeek - 1, hour }, span(hour, hour + 1))}
      >
        {hour}
      </button>
    </th>
  );
  const presets = [
    { name: 'always', ranges: rangesOf(days.map(() => hours.map(() => true))) },
    {
      name: 'work',
      ranges: rangesOf(days.map(day => hours.map(hour => day < workHours.days && workHours.from <= hour && hour < workHours.to))),
    },
    { name: 'never', ranges: [] },
  ] as const;
  const groups = together(cells);
  return (
    <WithWhy why={why}>
      {reason => (
        <div
          className="schedule"
          role="group"
          aria-label={look['aria-label'] ?? t('schedule.label')}
          aria-describedby={look['aria-describedby'] ?? reason}
          data-invalid={isInvalid(look) || undefined}
        >
          {!isFixed && (
            <div className="schedule-presets">
              {presets.map(({ name, ranges }) => (
                <Button key={name} size="small" id={name === 'always' ? id : undefined} onClick={() => onChange?.([...ranges])}>
                  {t(`schedule.${name}`)}
                </Button>
              ))}
              <small className="ink-3">{t(isTurned ? 'schedule.touch' : 'schedule.help')}</small>
            </div>
          )}
          <table
            ref={table}
            role="grid"
            aria-label={look['aria-label'] ?? t('schedule.label')}
            aria-multiselectable
            aria-readonly={isFixed}
            className={isTurned ? 'schedule-turned' : undefined}
            data-fixed={isFixed || undefined}
            data-painting={isPainting || undefined}
            onPointerMove={over}
            onPointerCancel={cancel}
            onPointerLeave={event => event.pointerType === 'mouse' && stroke && release(event, stroke.to)}
            // a finger that is held down asks for no menu
            onContextMenu={event => isPainting && event.preventDefault()}
          >
            <thead>
              <tr>
                <td />
                {isTurned ? days.map(dayHead) : hours.map(hourHead)}
              </tr>
            </thead>
            <tbody>
              {isTurned
                ? hours.map(hour => (
                    <tr key={hour}>
                      {hourHead(hour)}
                      {days.map(day => cell(day, hour))}
                    </tr>
                  ))
                : days.map(day => (
                    <tr key={day}>
                      {dayHead(day)}
                      {hours.map(hour => cell(day, hour))}
                    </tr>
                  ))}
            </tbody>
          </table>
          <ul className="schedule-said">
            {groups.length === 0 && <li className="ink-3">{t('schedule.none')}</li>}
            {groups.map(({ days: same, ranges }) => (
              <li key={same.join()}>
                <strong>
                  {runsOf(same)
                    .map(([first, last]) =>
                      first === last
                        ? names.short[first]
                        : t('schedule.days', { first: names.short[first]!, last: names.short[last]! }),
                    )
                    .join(t('schedule.comma'))}
                </strong>
                <span className="numbers">{ranges.map(range => span(range.from, range.to)).join(t('schedule.comma'))}</span>
              </li>
            ))}
          </ul>
          <span className="unseen" role="status">
            {said}
          </span>
        </div>
      )}
    </WithWhy>
  );
}
