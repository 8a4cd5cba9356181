/** A ranking: words, a bar, a figure. */
export function TopList({
  title,
  items,
  format,
}: {
  title: string;
  items: readonly { key: string; name: string; value: number }[];
  format: (value: number) => string;
}) {
  const max = Math.max(1, ...items.map(item => item.value));
  return (
    <section className="panel panel-padded">
      <h2>{title}</h2>
      <ol className="top-list numbers">
        {items.map(item => (
          <li key={item.key}>
            <span className="top-name" title={item.name}>
              {item.name}
            </span>
            <span className="top-bar">
              <i style={{ width: `${(item.value / max) * 100}%` }} />
            </span>
            <span>{format(item.value)}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
