const shown = 3;

/** The first of many values, and how many more there are. */
export function First({ values, otherwise = '' }: { values: readonly string[]; otherwise?: string }) {
  const rest = values.length - shown;
  return (
    <span className="mono">{values.length ? values.slice(0, shown).join(', ') + (rest > 0 ? ` +${rest}` : '') : otherwise}</span>
  );
}
