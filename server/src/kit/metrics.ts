/** Prometheus metrics of this process. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export const registry = new Registry();
let started = false;
export function startMetrics() {
  if (!started) collectDefaultMetrics({ register: registry });
  started = true;
}

const duration = new Histogram({
  name: 'breakwater_api_duration_seconds',
  help: 'Time of API calls, by declaration',
  labelNames: ['call', 'status'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
  registers: [registry],
});
/** Notes how long answers of one call took; `seconds` until the last byte was handed over. */
export function observer(call: string): (status: number, seconds: number) => void {
  const byClass = new Map<number, Histogram.Internal<'call' | 'status'>>();
  return (status, seconds) => {
    const group = Math.floor(status / 100);
    let child = byClass.get(group);
    if (!child) byClass.set(group, (child = duration.labels({ call, status: `${group}xx` })));
    child.observe(seconds);
  };
}
export const counter = (name: string, help: string) => new Counter({ name: `breakwater_${name}`, help, registers: [registry] });
export const gauge = (name: string, help: string) => new Gauge({ name: `breakwater_${name}`, help, registers: [registry] });
