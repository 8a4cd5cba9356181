/**
 * Figures by country: a map for the eye, and beside it the same as a list, which is all that a keyboard or a screen reader needs. What is
 * pointed at in one is marked in the other.
 */
import './chart.css';
import './world-map.css';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { ErrorState } from './empty.tsx';
import { asSearch } from './search.ts';
import { languageTag, t } from './text.ts';
import { percent } from './units.ts';
import { type CountryValue, countryNames, ranked, shadeOf, shadesMost } from './world-parts.ts';
import { points, shapes, worldSize } from './world-shapes.ts';

export interface WorldMapProps {
  title: string;
  summary?: string;
  /** Left out while they are on their way. */
  items?: readonly CountryValue[];
  format: (value: number) => string;
  error?: unknown;
  onRetry?: () => void;
  /** Where a country's name leads to. */
  requests?: (code: string) => { to: string; search: object } | undefined;
}

const nameOf = countryNames(languageTag);
const named = (code: string) => (code ? nameOf(code) : t('map.unknown'));
const pointRadius = 3.2;
const shown = Object.keys(shapes);

export function WorldMap({ title, summary, items, format, error, onRetry, requests }: WorldMapProps) {
  const [active, setActive] = useState<string>();
  const rows = useMemo(() => ranked(items ?? [], named), [items]);
  const byCode = useMemo(() => new Map(rows.map(row => [row.code, row])), [rows]);
  const total = rows.reduce((sum, row) => sum + row.value, 0);
  const max = rows[0]?.value ?? 0;
  const said = (code: string) => {
    const value = byCode.get(code)?.value ?? 0;
    return t('map.share', { name: named(code), value: format(value), share: percent(total ? value / total : 0) });
  };
  const look = (code: string) => ({
    className: `map-land map-${shadeOf(byCode.get(code)?.value ?? 0, max)}`,
    'data-active': active === code || undefined,
    onPointerEnter: () => setActive(code),
  });
  return (
    <section className="panel map" aria-label={title} aria-busy={!items && !error}>
      <header className="chart-head">
        <h2>{title}</h2>
        <span className="chart-summary numbers">{summary}</span>
      </header>
      {error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <div className="map-body">
          <div className="map-side">
            {/* the list beside it says the same */}
            <svg
              viewBox={`0 0 ${worldSize.width} ${worldSize.height}`}
              aria-hidden
              data-waits={!items || undefined}
              onPointerLeave={() => setActive(undefined)}
            >
              {shown.map(code => (
                <path key={code} d={shapes[code]} {...look(code)} />
              ))}
              {Object.entries(points)
                .filter(([code]) => byCode.has(code))
                .map(([code, [x, y]]) => (
                  <circle key={code} cx={x} cy={y} r={pointRadius} {...look(code)} />
                ))}
            </svg>
            <p className="map-foot">
              <span className="numbers">{active === undefined ? t('map.point') : said(active)}</span>
              <span className="map-scale" aria-hidden>
                {t('map.less')}
                {Array.from({ length: shadesMost }, (_, index) => (
                  <i key={index} className={`map-key map-${index + 1}`} />
                ))}
                {t('map.more')}
              </span>
            </p>
          </div>
          {!items ? (
            <div className="chart-wait" style={{ height: 240 }} />
          ) : rows.length === 0 ? (
            <p className="top-nothing">{t('chart.nothing')}</p>
          ) : (
            <div className="map-list" tabIndex={0} role="group" aria-label={t('map.list')}>
              <ol className="numbers">
                {rows.map(({ code, name, value }) => {
                  const behind = requests?.(code);
                  return (
                    <li
                      key={code}
                      data-active={active === code || undefined}
                      onPointerEnter={() => setActive(code)}
                      onPointerLeave={() => setActive(undefined)}
                      onFocus={() => setActive(code)}
                      onBlur={() => setActive(undefined)}
                    >
                      <span className="map-name">
                        {behind ? (
                          <Link to={behind.to} search={asSearch(behind.search)} title={t('chart.requests')}>
                            {name}
                          </Link>
                        ) : (
                          name
                        )}
                      </span>
                      <span>{format(value)}</span>
                      <span className="top-note">{percent(total ? value / total : 0)}</span>
                    </li>
                  );
                })}
              </ol>
            </div>
          )}
        </div>
      )}
    </section>
  );
}
