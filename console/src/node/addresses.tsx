import { CopyButton } from '../kit/copy.tsx';

const shownMax = 2;

/** Addresses of a node, each to be copied. */
export function Addresses({ values, isAll }: { values: readonly string[]; isAll?: boolean }) {
  if (values.length === 0) return <span className="ink-3">–</span>;
  const shown = isAll ? values : values.slice(0, shownMax);
  return (
    <span className="address-list">
      {shown.map(value => (
        <span key={value} className="address">
          <span className="mono">{value}</span>
          <CopyButton text={value} />
        </span>
      ))}
      {shown.length < values.length && <span className="cell-note">+{values.length - shown.length}</span>}
    </span>
  );
}
