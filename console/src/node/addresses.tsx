import { CopyButton } from '../kit/copy.tsx';

const shownMax = 2;

/** Addresses of a node, each to be copied. */
export function Addresses({ values, isAll }: { values: readonly string[]; isAll?: boolean }) {
  if (values.length === 0) return <span className="ink-3">–</span>;
  const shown = isAll ? values : values.slice(0, shownMax);
  return (
    <span className="address-list">
      {shown.map((value, index) => (
        <span key={value} className="address">
          <span className="mono">{value}</span>
          <CopyButton text={value} />
          {index === shown.length - 1 && shown.length < values.length && (
            <span className="ink-3" title={values.slice(shown.length).join('\n')}>
              +{values.length - shown.length}
            </span>
          )}
        </span>
      ))}
    </span>
  );
}
