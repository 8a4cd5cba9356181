/** Small things that stand in tables and headers. */
import { Tag } from 'antd';
import type { ReactNode } from 'react';

export { Status } from './status.tsx';

const hues = 8;
/** The same word has the same colour everywhere; there are more words than colours, so the word says it. */
const hueOf = (text: string) => [...text].reduce((sum, one) => (sum * 31 + one.codePointAt(0)!) % 65_521, 7) % hues;

export function Tags({ values }: { values: readonly string[] }) {
  return (
    <span className="tags">
      {values.map(value => (
        <Tag key={value} variant="filled" className={`tag-${hueOf(value)}`}>
          {value}
        </Tag>
      ))}
    </span>
  );
}

/** Pairs of a name and a value, as in a drawer of details. */
export function Facts({ facts }: { facts: readonly (readonly [label: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
