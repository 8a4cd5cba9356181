/**
 * Where things stand in the world: a point for each place, with how many stand there and how the worst of them is; beside it the places as
 * a list, which is all that a keyboard or a screen reader needs. What is chosen in one is marked in the other.
 */
import './chart.css';
import './world-map.css';
import './pin-map.css';
import { useMemo, useState } from 'react';
import { ErrorState } from './empty.tsx';
import { type Cluster, clustered, type Pin, radiusOf } from './pin-parts.ts';
import { t } from './text.ts';
import { number } from './units.ts';
import { useNarrow } from './use-narrow.ts';
import { shapes, worldSize } from './world-shapes.ts';

export interface PinMapProps {
  title: string;
  summary?: string;
  /** Left out while they are on their way. */
  pins?: readonly Pin[];
  /** What is said of those of a place, beside how many they are. */
  said: (pins: readonly Pin[]) => string;
  /** Whose place is marked. */
  chosen?: readonly number[];
  onChoose: (pins: readonly Pin[]) => void;
  error?: unknown;
  onRetry?: () => void;
}

/** Points do not touch: units of the map, which is drawn a third as wide on a telephone. */
const apart = { wide: 20, narrow: 48 };
const lands = Object.values(shapes);
const keyOf = (cluster: Cluster) => `${cluster.x} ${cluster.y}`;
const nameOf = ({ places }: Cluster) =>
  places.length > 2
    ? t('pins.more', { places: places.slice(0, 2).join(t('pins.comma')), count: places.length - 2 })
    : places.join(t('pins.comma'));

export function PinMap({ title, summary, pins, said, chosen = [], onChoose, error, onRetry }: PinMapProps) {
  const isNarrow = useNarrow();
  const [active, setActive] = useState<string>();
  const clusters = useMemo(() => clustered(pins ?? [], isNarrow ? apart.narrow : apart.wide), [pins, isNarrow]);
  const scale = isNarrow ? 2.2 : 1;
  const isChosen = (cluster: Cluster) => chosen.length > 0 && cluster.pins.some(({ id }) => chosen.includes(id));
  const look = (cluster: Cluster) => ({
    'data-active': active === keyOf(cluster) || undefined,
    'data-chosen': isChosen(cluster) || undefined,
    onPointerEnter: () => setActive(keyOf(cluster)),
    onPointerLeave: () => setActive(undefined),
  });
  return (
    <section className="panel map" aria-label={title} aria-busy={!pins && !error}>
      <header className="chart-head">
        <h2>{title}</h2>
        <span className="chart-summary numbers">{summary}</span>
      </header>
      {error ? (
        <ErrorState error={error} onRetry={onRetry} />
      ) : (
        <div className="map-body">
          <div className="map-side">
            {/* the list beside it says and does the same */}
            <svg viewBox={`0 0 ${worldSize.width} ${worldSize.height}`} aria-hidden data-waits={!pins || undefined}>
              {lands.map(path => (
                <path key={path} d={path} className="map-land map-0" />
              ))}
              {[...clusters].reverse().map(cluster => (
                <g
                  key={keyOf(cluster)}
                  className={`pin pin-${cluster.tone}`}
                  transform={`translate(${cluster.x} ${cluster.y}) scale(${scale})`}
                  onClick={() => onChoose(cluster.pins)}
                  {...look(cluster)}
                >
                  <title>{`${nameOf(cluster)} · ${said(cluster.pins)}`}</title>
                  <circle r={radiusOf(cluster.pins.length) + 3} className="pin-ring" />
                  <circle r={radiusOf(cluster.pins.length)} />
                  {cluster.pins.length > 1 && (
                    <text dy="0.36em" textAnchor="middle">
                      {cluster.pins.length > 999 ? '1k+' : cluster.pins.length}
                    </text>
                  )}
                </g>
              ))}
            </svg>
          </div>
          {!pins ? (
            <div className="chart-wait" style={{ height: 240 }} />
          ) : clusters.length === 0 ? (
            <p className="top-nothing">{t('pins.nothing')}</p>
          ) : (
            <div className="map-list" role="group" aria-label={t('pins.list')}>
              <ul className="pin-list">
                {clusters.map(cluster => (
                  <li key={keyOf(cluster)} {...look(cluster)}>
                    <button
                      type="button"
                      aria-pressed={isChosen(cluster)}
                      onFocus={() => setActive(keyOf(cluster))}
                      onBlur={() => setActive(undefined)}
                      onClick={() => onChoose(cluster.pins)}
                    >
                      <span className={`status-dot ${cluster.tone}`} aria-hidden />
                      <span className="map-name">{nameOf(cluster)}</span>
                      <span className="pin-count numbers">{number(cluster.pins.length)}</span>
                      <span className="pin-said">{said(cluster.pins)}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </div>
          )}
        </div>
      )}
    </section>
  );
}
