/** What was used of what may be used: a bar, and the days of the month. */
import './traffic.css';
import { traffic } from '#contract/limits.ts';
import { t } from '../kit/text.ts';
import { bytes, percent } from '../kit/units.ts';

export interface Usage {
  year: number;
  month: number;
  bytes: number;
  days: readonly number[];
  baseBytes: number;
  planBytes: number;
}
const two = (n: number) => String(n).padStart(2, '0');
export const monthOf = ({ year, month }: Pick<Usage, 'year' | 'month'>) => `${year}/${two(month)}`;
const dayOf = (usage: Usage, index: number) => `${monthOf(usage)}/${two(index + 1)}`;

/** `1.02 TB of 1.00 TB, 102%`; without a bound the amount alone. */
export function Used({ usage }: { usage: Usage }) {
  const { bytes: used, baseBytes, planBytes } = usage;
  if (planBytes === 0)
    return (
      <div className="used">
        <div className="used-line">
          <b>{bytes(used)}</b>
          <span className="ink-3">{t('traffic.unlimited')}</span>
        </div>
      </div>
    );
  const share = used / planBytes;
  const tone = share >= traffic.limitedShare ? 'full' : share >= traffic.warningShare ? 'near' : '';
  return (
    <div className="used">
      <div className="used-line">
        <b>{bytes(used)}</b>
        <span className="ink-3">/ {bytes(planBytes)}</span>
        <span className="ink-3">{percent(share)}</span>
      </div>
      <div className={`used-bar ${tone}`} aria-hidden>
        <i style={{ width: `${Math.min(1, share) * 100}%` }} />
        {baseBytes < planBytes && <em style={{ left: `${(baseBytes / planBytes) * 100}%` }} />}
      </div>
    </div>
  );
}

const gap = 0.25;
/** A bar for each day, the highest as high as there is room. */
export function Days({ usage, height }: { usage: Usage; height: number }) {
  const { days } = usage;
  const max = Math.max(...days, 1);
  const high = days.indexOf(max);
  const label = high < 0 ? t('traffic.noDays') : t('traffic.highest', { day: dayOf(usage, high), bytes: bytes(max) });
  return (
    <svg
      className="days"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, days.length)} 1`}
      preserveAspectRatio="none"
      style={{ height }}
    >
      {days.map((value, index) => (
        // the place is the day
        // oxlint-disable-next-line react/no-array-index-key
        <g key={index}>
          <title>{`${dayOf(usage, index)}: ${bytes(value)}`}</title>
          <rect x={index} y={0} width={1} height={1} fill="transparent" />
          <rect
            x={index + gap / 2}
            width={1 - gap}
            y={1 - Math.max(value / max, value ? 0.03 : 0.012)}
            height={Math.max(value / max, value ? 0.03 : 0.012)}
            fill="currentColor"
            opacity={value ? 1 : 0.35}
          />
        </g>
      ))}
    </svg>
  );
}

export const Axis = ({ usage }: { usage: Usage }) => (
  <div className="days-axis" aria-hidden>
    <span>{dayOf(usage, 0).slice(5)}</span>
    <span>{dayOf(usage, usage.days.length - 1).slice(5)}</span>
  </div>
);
